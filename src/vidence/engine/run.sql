-- A run folder. Generated columns and the view are for whoever filters with SQL.
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (
    position INTEGER PRIMARY KEY, item_id TEXT UNIQUE NOT NULL, json TEXT NOT NULL,
    tags TEXT AS (json_extract(json, '$.tags')));
CREATE TABLE IF NOT EXISTS selections (digest BLOB PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trials (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, item_id TEXT NOT NULL, repeat INTEGER NOT NULL,
    selection BLOB, json TEXT NOT NULL,
    outcome TEXT AS (json_extract(json, '$.score.outcome.type')),
    value REAL AS (json_extract(json, '$.score.value')),
    parser TEXT AS (json_extract(json, '$.score.scorer')));
CREATE INDEX IF NOT EXISTS trials_by_item ON trials (item_id, repeat);
CREATE INDEX IF NOT EXISTS trials_by_outcome ON trials (outcome, item_id, repeat);
CREATE VIEW IF NOT EXISTS verdicts AS
    SELECT seq, item_id, repeat, json_extract(v.value, '$.judge_model') AS judge_model,
        json_extract(v.value, '$.value') AS value, json_extract(v.value, '$.points') AS points,
        json_extract(v.value, '$.reason') AS reason, json_extract(v.value, '$.error') AS error
    FROM trials, json_each(trials.json, '$.score.verdicts') AS v;
CREATE TABLE IF NOT EXISTS diagnoses (name TEXT PRIMARY KEY, header TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS findings (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, diagnosis TEXT NOT NULL, item_id TEXT NOT NULL, json TEXT NOT NULL,
    error TEXT AS (json_extract(json, '$.failed.error')));
CREATE INDEX IF NOT EXISTS findings_by_item ON findings (diagnosis, item_id);
