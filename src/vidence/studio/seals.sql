-- What Postgres does for seals, which SQLite does in triggers alone.
CREATE OR REPLACE FUNCTION studio_seal_of(name text, content jsonb) RETURNS text IMMUTABLE LANGUAGE sql AS
$$ SELECT encode(sha256(convert_to(name || content::text, 'UTF8')), 'hex') $$;

CREATE OR REPLACE FUNCTION studio_keep_seal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('studio.writer', true) IS DISTINCT FROM 'vidence' THEN
        RAISE EXCEPTION 'only the studio writes into %', TG_TABLE_NAME;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM studio_seal WHERE of_table = TG_TABLE_NAME AND of_row = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO studio_seal VALUES (TG_TABLE_NAME, NEW.id, studio_seal_of(TG_TABLE_NAME, to_jsonb(NEW)))
        ON CONFLICT (of_table, of_row) DO UPDATE SET seal = excluded.seal;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION studio_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of this table are never changed or deleted';
END $$;
