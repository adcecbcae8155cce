import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="AuditEventRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(unique=True)),
                ("kind", models.CharField(max_length=40)),
                ("by", models.CharField(blank=True, max_length=64)),
                ("about", models.CharField(blank=True, max_length=300)),
                ("details", models.JSONField(default=dict)),
                ("at", models.DateTimeField()),
                ("chain_sha256", models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="ItemRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("item_id", models.CharField(max_length=300)),
                ("kind", models.CharField(max_length=40)),
                ("state", models.CharField(max_length=40)),
                ("returns_left", models.SmallIntegerField()),
                ("standing", models.JSONField(default=dict)),
                ("strata", models.JSONField(default=dict)),
                ("lock_version", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField()),
                ("changed_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="MediumRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("kind", models.CharField(max_length=40)),
                ("path", models.TextField()),
                ("url", models.TextField(blank=True, default="")),
                ("title", models.TextField(blank=True, default="")),
                ("source_id", models.CharField(blank=True, max_length=300)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("n_frames", models.PositiveIntegerField(null=True)),
                ("duration_s", models.FloatField(null=True)),
                ("state", models.CharField(max_length=40)),
                ("state_reason", models.TextField(blank=True, default="")),
            ],
        ),
        migrations.CreateModel(
            name="ProjectRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("title", models.CharField(max_length=300)),
                ("languages", models.JSONField(default=list)),
                ("state", models.CharField(max_length=40)),
                ("media_root", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="ProtocolRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=300)),
                ("source", models.TextField()),
                ("sha256", models.CharField(max_length=64, unique=True)),
                ("added_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="SignInTryRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64, unique=True)),
                ("n_failed", models.PositiveIntegerField(default=0)),
                ("last_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="UserRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(max_length=150)),
                ("key", models.CharField(max_length=150, unique=True)),
                ("shown", models.CharField(max_length=150)),
                ("pseudonym", models.CharField(max_length=64, unique=True)),
                ("password", models.CharField(max_length=200)),
                ("edition", models.PositiveIntegerField(default=1)),
                ("is_active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField()),
                ("settings", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="AssignmentRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("stage", models.CharField(max_length=40)),
                ("state", models.CharField(max_length=40)),
                ("claimed_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="studio.itemrow",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="studio.userrow",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="itemrow",
            name="media",
            field=models.ManyToManyField(related_name="items", to="studio.mediumrow"),
        ),
        migrations.AddField(
            model_name="mediumrow",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="media", to="studio.projectrow"
            ),
        ),
        migrations.CreateModel(
            name="MadeSetRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("folder", models.TextField(unique=True)),
                ("people_folder", models.TextField()),
                ("configuration_sha256", models.CharField(blank=True, max_length=64)),
                (
                    "project",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, to="studio.projectrow"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="itemrow",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="items", to="studio.projectrow"
            ),
        ),
        migrations.CreateModel(
            name="GuidelineRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("source", models.TextField()),
                ("sha256", models.CharField(max_length=64)),
                ("added_at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="guidelines",
                        to="studio.projectrow",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="projectrow",
            name="protocol",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="studio.protocolrow"),
        ),
        migrations.CreateModel(
            name="ReviewRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("stage", models.CharField(max_length=40)),
                ("decision", models.CharField(blank=True, max_length=40)),
                ("feedback", models.TextField(blank=True, default="")),
                ("answer", models.TextField(blank=True, default="")),
                ("seconds", models.FloatField(null=True)),
                ("begun_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reviews",
                        to="studio.itemrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FieldVerdictRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("field", models.CharField(max_length=200)),
                ("verdict", models.CharField(max_length=40)),
                ("note", models.TextField(blank=True, default="")),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="fields",
                        to="studio.reviewrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ChecklistAnswerRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("check_id", models.CharField(max_length=100)),
                ("said", models.CharField(max_length=100)),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="checks",
                        to="studio.reviewrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RevisionRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("n", models.PositiveIntegerField()),
                ("content", models.TextField()),
                ("parent", models.CharField(blank=True, max_length=64)),
                ("origin", models.CharField(max_length=40)),
                ("by", models.CharField(max_length=64)),
                ("at", models.CharField(max_length=40)),
                ("sha256", models.CharField(max_length=64, unique=True)),
                (
                    "guideline",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, to="studio.guidelinerow"
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="revisions",
                        to="studio.itemrow",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="reviewrow",
            name="revision",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="reviews", to="studio.revisionrow"
            ),
        ),
        migrations.AddField(
            model_name="itemrow",
            name="current",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="studio.revisionrow",
            ),
        ),
        migrations.CreateModel(
            name="ScoreRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("score_id", models.CharField(max_length=100)),
                ("value", models.SmallIntegerField()),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scores",
                        to="studio.reviewrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TransitionRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("event_id", models.CharField(max_length=64, unique=True)),
                ("event", models.TextField()),
                ("kind", models.CharField(max_length=40)),
                ("role", models.CharField(max_length=40)),
                ("by", models.CharField(max_length=64)),
                ("at", models.CharField(max_length=40)),
                ("state_before", models.CharField(max_length=40)),
                ("state_after", models.CharField(max_length=40)),
                ("chain_sha256", models.CharField(max_length=64)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="transitions",
                        to="studio.itemrow",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="transitions",
                        to="studio.projectrow",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="reviewrow",
            name="transition",
            field=models.OneToOneField(
                null=True, on_delete=django.db.models.deletion.PROTECT, to="studio.transitionrow"
            ),
        ),
        migrations.CreateModel(
            name="TrackVerdictRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("video_id", models.CharField(max_length=300)),
                ("seen", models.CharField(max_length=12)),
                ("by_name", models.CharField(max_length=64)),
                ("note", models.TextField(blank=True, default="")),
                ("seconds", models.FloatField(null=True)),
                ("at", models.DateTimeField()),
                ("lock_version", models.PositiveIntegerField(default=1)),
                ("track_id", models.CharField(max_length=100)),
                ("act", models.CharField(max_length=200)),
                (
                    "made_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)s",
                        to="studio.madesetrow",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="studio.userrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TimeSpanRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=40)),
                ("source", models.CharField(max_length=40)),
                ("start_at", models.DateTimeField()),
                ("end_at", models.DateTimeField()),
                ("n_beats", models.PositiveIntegerField(default=0)),
                ("is_open", models.BooleanField(default=False)),
                ("reason", models.TextField(blank=True, default="")),
                (
                    "assignment",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, to="studio.assignmentrow"
                    ),
                ),
                (
                    "approved_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="studio.userrow",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="spans", to="studio.userrow"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ShotEditRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("video_id", models.CharField(max_length=300)),
                ("seen", models.CharField(max_length=12)),
                ("by_name", models.CharField(max_length=64)),
                ("note", models.TextField(blank=True, default="")),
                ("seconds", models.FloatField(null=True)),
                ("at", models.DateTimeField()),
                ("lock_version", models.PositiveIntegerField(default=1)),
                ("act", models.CharField(max_length=200)),
                (
                    "made_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)s",
                        to="studio.madesetrow",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="studio.userrow",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="reviewrow",
            name="author",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="studio.userrow"
            ),
        ),
        migrations.AddField(
            model_name="reviewrow",
            name="reviewer",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="reviews", to="studio.userrow"
            ),
        ),
        migrations.CreateModel(
            name="QualificationRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("n_try", models.PositiveSmallIntegerField()),
                ("answers", models.JSONField(default=dict)),
                ("n_right", models.PositiveIntegerField()),
                ("n_asked", models.PositiveIntegerField()),
                ("is_passed", models.BooleanField()),
                ("at", models.DateTimeField()),
                (
                    "guideline",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, to="studio.guidelinerow"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="studio.projectrow"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="qualifications",
                        to="studio.userrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MessageRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("text", models.TextField()),
                ("visible_to", models.JSONField(default=list)),
                ("at", models.DateTimeField()),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="messages",
                        to="studio.itemrow",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, to="studio.revisionrow"
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="studio.userrow"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MessageReadRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reads",
                        to="studio.messagerow",
                    ),
                ),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="studio.userrow")),
            ],
        ),
        migrations.CreateModel(
            name="MembershipRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("roles", models.JSONField(default=list)),
                ("domains", models.JSONField(default=list)),
                ("is_author_of_the_paper", models.BooleanField(default=False)),
                ("qualified_until", models.DateTimeField(null=True)),
                (
                    "guideline",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, to="studio.guidelinerow"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="studio.projectrow",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="studio.userrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LedgerRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("number", models.PositiveIntegerField()),
                ("kind", models.CharField(max_length=40)),
                ("amount_minor", models.BigIntegerField()),
                ("currency", models.CharField(max_length=3)),
                ("rule", models.CharField(max_length=100)),
                ("quantity", models.FloatField()),
                ("source", models.CharField(max_length=200)),
                ("at", models.DateTimeField()),
                ("chain_sha256", models.CharField(max_length=64)),
                (
                    "reverses",
                    models.OneToOneField(
                        null=True, on_delete=django.db.models.deletion.PROTECT, to="studio.ledgerrow"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="studio.projectrow"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ledger",
                        to="studio.userrow",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="itemrow",
            name="author",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="items",
                to="studio.userrow",
            ),
        ),
        migrations.CreateModel(
            name="FalseCheckRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("video_id", models.CharField(max_length=300)),
                ("seen", models.CharField(max_length=12)),
                ("by_name", models.CharField(max_length=64)),
                ("note", models.TextField(blank=True, default="")),
                ("seconds", models.FloatField(null=True)),
                ("at", models.DateTimeField()),
                ("lock_version", models.PositiveIntegerField(default=1)),
                ("card_id", models.CharField(max_length=100)),
                ("told_without_film", models.CharField(blank=True, max_length=40)),
                ("occurs_in_film", models.BooleanField(null=True)),
                ("reads_natural", models.BooleanField(null=True)),
                (
                    "made_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)s",
                        to="studio.madesetrow",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="studio.userrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DraftRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("stage", models.CharField(max_length=40)),
                ("version", models.PositiveIntegerField(default=0)),
                ("body", models.JSONField(default=dict)),
                ("based_on", models.CharField(blank=True, max_length=64)),
                ("saved_at", models.DateTimeField()),
                ("is_closed", models.BooleanField(default=False)),
                (
                    "item",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="drafts",
                        to="studio.itemrow",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="studio.projectrow"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="drafts",
                        to="studio.userrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CardCheckRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("video_id", models.CharField(max_length=300)),
                ("seen", models.CharField(max_length=12)),
                ("by_name", models.CharField(max_length=64)),
                ("note", models.TextField(blank=True, default="")),
                ("seconds", models.FloatField(null=True)),
                ("at", models.DateTimeField()),
                ("lock_version", models.PositiveIntegerField(default=1)),
                ("track_id", models.CharField(max_length=100)),
                ("kind", models.CharField(max_length=40)),
                ("text", models.TextField(blank=True, default="")),
                ("frames", models.JSONField(default=list)),
                ("fits", models.CharField(blank=True, max_length=40)),
                ("leaks", models.BooleanField(null=True)),
                (
                    "made_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)s",
                        to="studio.madesetrow",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="studio.userrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="WindowCheckRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("video_id", models.CharField(max_length=300)),
                ("seen", models.CharField(max_length=12)),
                ("by_name", models.CharField(max_length=64)),
                ("note", models.TextField(blank=True, default="")),
                ("seconds", models.FloatField(null=True)),
                ("at", models.DateTimeField()),
                ("lock_version", models.PositiveIntegerField(default=1)),
                ("clip_id", models.CharField(max_length=300)),
                ("shows", models.CharField(max_length=40)),
                ("start_s", models.FloatField(null=True)),
                ("end_s", models.FloatField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="studio.userrow",
                    ),
                ),
                (
                    "made_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)s",
                        to="studio.madesetrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="WindowCountRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("video_id", models.CharField(max_length=300)),
                ("seen", models.CharField(max_length=12)),
                ("by_name", models.CharField(max_length=64)),
                ("note", models.TextField(blank=True, default="")),
                ("seconds", models.FloatField(null=True)),
                ("at", models.DateTimeField()),
                ("lock_version", models.PositiveIntegerField(default=1)),
                ("start_s", models.FloatField()),
                ("end_s", models.FloatField()),
                ("place", models.CharField(max_length=300)),
                ("n", models.PositiveIntegerField()),
                ("n_low", models.PositiveIntegerField()),
                ("n_high", models.PositiveIntegerField()),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="studio.userrow",
                    ),
                ),
                (
                    "made_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)s",
                        to="studio.madesetrow",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DraftLogRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("body", models.JSONField()),
                ("request", models.CharField(max_length=64)),
                ("at", models.DateTimeField()),
                (
                    "draft",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="log", to="studio.draftrow"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("draft", "version"), name="draft_version_once"),
                    models.UniqueConstraint(fields=("draft", "request"), name="draft_request_once"),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="mediumrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ("video", "image", "images", "frames"))),
                name="medium_kind_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="mediumrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ("candidate", "usable", "refused", "gone", "taken-down"))),
                name="medium_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="mediumrow",
            constraint=models.UniqueConstraint(fields=("project", "path"), name="medium_once"),
        ),
        migrations.AddConstraint(
            model_name="guidelinerow",
            constraint=models.UniqueConstraint(fields=("project", "version"), name="guideline_version_once"),
        ),
        migrations.AddConstraint(
            model_name="projectrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ("setup", "open", "frozen", "released", "archived"))),
                name="project_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="fieldverdictrow",
            constraint=models.UniqueConstraint(fields=("review", "field"), name="field_once"),
        ),
        migrations.AddConstraint(
            model_name="fieldverdictrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("verdict__in", ("right", "wrong"))), name="field_verdict_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="checklistanswerrow",
            constraint=models.UniqueConstraint(fields=("review", "check_id"), name="check_once"),
        ),
        migrations.AddConstraint(
            model_name="revisionrow",
            constraint=models.UniqueConstraint(fields=("item", "n"), name="revision_once"),
        ),
        migrations.AddConstraint(
            model_name="scorerow",
            constraint=models.UniqueConstraint(fields=("review", "score_id"), name="score_once"),
        ),
        migrations.AddIndex(
            model_name="transitionrow",
            index=models.Index(fields=["item", "number"], name="transition_of_item"),
        ),
        migrations.AddConstraint(
            model_name="transitionrow",
            constraint=models.UniqueConstraint(fields=("project", "number"), name="transition_once"),
        ),
        migrations.AddConstraint(
            model_name="transitionrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__gte", 1)), name="transitions_count_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="trackverdictrow",
            constraint=models.UniqueConstraint(
                fields=("made_set", "video_id", "track_id", "act", "by_name"), name="track_act_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="timespanrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("end_at__gte", models.F("start_at"))), name="spans_go_forward"
            ),
        ),
        migrations.AddConstraint(
            model_name="timespanrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ("active", "idle"))), name="span_kind_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="timespanrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("source__in", ("heartbeat", "correction"))), name="span_source_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="timespanrow",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_open", True)), fields=("user",), name="one_open_span"
            ),
        ),
        migrations.AddConstraint(
            model_name="shoteditrow",
            constraint=models.UniqueConstraint(
                fields=("made_set", "video_id", "act", "by_name"), name="shot_act_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewrow",
            constraint=models.UniqueConstraint(
                fields=("revision", "stage", "reviewer"), name="one_look_each"
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewrow",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("author__isnull", True),
                    models.Q(("reviewer", models.F("author")), _negated=True),
                    _connector="OR",
                ),
                name="nobody_reviews_their_own",
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("n_right__lte", models.F("n_asked"))), name="no_more_right_than_asked"
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationrow",
            constraint=models.UniqueConstraint(
                fields=("user", "project", "guideline", "n_try"), name="try_once", nulls_distinct=False
            ),
        ),
        migrations.AddConstraint(
            model_name="messagereadrow",
            constraint=models.UniqueConstraint(fields=("message", "user"), name="read_once"),
        ),
        migrations.AddConstraint(
            model_name="membershiprow",
            constraint=models.UniqueConstraint(
                fields=("user", "project"), name="membership_once", nulls_distinct=False
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgerrow",
            constraint=models.UniqueConstraint(fields=("project", "number"), name="ledger_number_once"),
        ),
        migrations.AddConstraint(
            model_name="ledgerrow",
            constraint=models.UniqueConstraint(
                fields=("project", "user", "rule", "source"), name="paid_once"
            ),
        ),
        migrations.AddIndex(
            model_name="itemrow",
            index=models.Index(fields=["project", "state", "changed_at"], name="item_by_state"),
        ),
        migrations.AddConstraint(
            model_name="itemrow",
            constraint=models.UniqueConstraint(fields=("project", "item_id"), name="item_once"),
        ),
        migrations.AddConstraint(
            model_name="itemrow",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        (
                            "drafting",
                            "submitted",
                            "in-review",
                            "returned",
                            "reviewed",
                            "in-meta",
                            "accepted",
                            "rejected",
                            "withdrawn",
                            "voided",
                        ),
                    )
                ),
                name="item_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="itemrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("returns_left__gte", 0)), name="no_second_return"
            ),
        ),
        migrations.AddConstraint(
            model_name="falsecheckrow",
            constraint=models.UniqueConstraint(
                fields=("made_set", "card_id", "by_name"), name="false_check_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="draftrow",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_closed", False)),
                fields=("user", "item", "stage"),
                name="one_open_draft",
            ),
        ),
        migrations.AddConstraint(
            model_name="cardcheckrow",
            constraint=models.UniqueConstraint(
                fields=("made_set", "video_id", "track_id", "kind", "by_name"), name="card_check_once"
            ),
        ),
        migrations.AddIndex(
            model_name="assignmentrow",
            index=models.Index(fields=["user", "state"], name="assignment_of_user"),
        ),
        migrations.AddConstraint(
            model_name="assignmentrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ("offered", "claimed", "submitted", "released", "expired"))),
                name="assignment_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignmentrow",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "claimed")),
                fields=("item", "stage", "user"),
                name="one_open_claim",
            ),
        ),
        migrations.AddConstraint(
            model_name="windowcheckrow",
            constraint=models.UniqueConstraint(
                fields=("made_set", "clip_id", "by_name"), name="window_check_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="windowcountrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("n__lte", models.F("n_high")), ("n_low__lte", models.F("n"))),
                name="count_in_its_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="windowcountrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("start_s__lt", models.F("end_s"))), name="window_goes_forward"
            ),
        ),
        migrations.AddConstraint(
            model_name="windowcountrow",
            constraint=models.UniqueConstraint(
                fields=("made_set", "video_id", "start_s", "end_s", "place", "by_name"), name="count_once"
            ),
        ),
    ]
