import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='UserRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=150)),
                ('key', models.CharField(max_length=150, unique=True)),
                ('shown', models.CharField(max_length=150)),
                ('pseudonym', models.CharField(max_length=64, unique=True)),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField()),
                ('has_first_password', models.BooleanField(default=False)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='AuditEventRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(unique=True)),
                ('kind', models.CharField(max_length=40)),
                ('by', models.CharField(blank=True, max_length=64)),
                ('about', models.CharField(blank=True, max_length=300)),
                ('details', models.JSONField(default=dict)),
                ('at', models.DateTimeField()),
                ('chain_sha256', models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='GuidelineRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('source', models.TextField()),
                ('sha256', models.CharField(max_length=64)),
                ('added_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='MadeSetRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('folder', models.TextField(unique=True)),
                ('people_folder', models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name='MediumRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.CharField(max_length=40)),
                ('path', models.TextField()),
                ('url', models.TextField(blank=True, default='')),
                ('title', models.TextField(blank=True, default='')),
                ('source_id', models.CharField(blank=True, max_length=300)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('n_frames', models.PositiveIntegerField(null=True)),
                ('duration_s', models.FloatField(null=True)),
                ('state', models.CharField(max_length=40)),
                ('state_reason', models.TextField(blank=True, default='')),
            ],
        ),
        migrations.CreateModel(
            name='ProjectRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('title', models.CharField(max_length=300)),
                ('languages', models.JSONField(default=list)),
                ('state', models.CharField(max_length=40)),
                ('media_root', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='ProtocolRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(max_length=300)),
                ('source', models.TextField()),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('added_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='ItemRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('item_id', models.CharField(max_length=300)),
                ('kind', models.CharField(max_length=40)),
                ('state', models.CharField(max_length=40)),
                ('returns_left', models.SmallIntegerField()),
                ('standing', models.JSONField(default=dict)),
                ('writer', models.CharField(blank=True, default='', max_length=64)),
                ('is_disputed', models.BooleanField(default=False)),
                ('claims', models.TextField(blank=True, default='')),
                ('strata', models.JSONField(default=dict)),
                ('lock_version', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='items', to=settings.AUTH_USER_MODEL)),
                ('media', models.ManyToManyField(related_name='items', to='studio.mediumrow')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='items', to='studio.projectrow')),
            ],
        ),
        migrations.CreateModel(
            name='AssignmentRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('stage', models.CharField(max_length=40)),
                ('state', models.CharField(max_length=40)),
                ('claimed_at', models.DateTimeField()),
                ('due_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to=settings.AUTH_USER_MODEL)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='studio.itemrow')),
            ],
        ),
        migrations.CreateModel(
            name='BoardRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('board', models.CharField(max_length=40)),
                ('video_id', models.CharField(max_length=300)),
                ('key', models.TextField()),
                ('said', models.JSONField(default=dict)),
                ('by_name', models.CharField(max_length=64)),
                ('at', models.DateTimeField()),
                ('made_set', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='studio.madesetrow')),
            ],
        ),
        migrations.CreateModel(
            name='MembershipRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('roles', models.JSONField(default=list)),
                ('domains', models.JSONField(default=list)),
                ('is_author_of_the_paper', models.BooleanField(default=False)),
                ('qualified_until', models.DateTimeField(null=True)),
                ('guideline', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='studio.guidelinerow')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='studio.projectrow')),
            ],
        ),
        migrations.AddField(
            model_name='mediumrow',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='media', to='studio.projectrow'),
        ),
        migrations.AddField(
            model_name='madesetrow',
            name='project',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='studio.projectrow'),
        ),
        migrations.AddField(
            model_name='guidelinerow',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='guidelines', to='studio.projectrow'),
        ),
        migrations.CreateModel(
            name='DraftRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('stage', models.CharField(max_length=40)),
                ('version', models.PositiveIntegerField(default=0)),
                ('body', models.TextField(default='{}')),
                ('based_on', models.CharField(blank=True, max_length=64)),
                ('saved_at', models.DateTimeField()),
                ('is_closed', models.BooleanField(default=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='drafts', to=settings.AUTH_USER_MODEL)),
                ('item', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='drafts', to='studio.itemrow')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='studio.projectrow')),
            ],
        ),
        migrations.AddField(
            model_name='projectrow',
            name='protocol',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='studio.protocolrow'),
        ),
        migrations.CreateModel(
            name='QualificationRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(blank=True, default='', max_length=40)),
                ('n_try', models.PositiveSmallIntegerField()),
                ('answers', models.JSONField(default=dict)),
                ('n_right', models.PositiveIntegerField()),
                ('n_asked', models.PositiveIntegerField()),
                ('is_passed', models.BooleanField()),
                ('is_set_aside', models.BooleanField(default=False)),
                ('at', models.DateTimeField()),
                ('guideline', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='studio.guidelinerow')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='studio.projectrow')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualifications', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='RevisionRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('n', models.PositiveIntegerField()),
                ('content', models.TextField()),
                ('parent', models.CharField(blank=True, max_length=64)),
                ('origin', models.CharField(max_length=40)),
                ('by', models.CharField(max_length=64)),
                ('at', models.CharField(max_length=40)),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('guideline', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='studio.guidelinerow')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='revisions', to='studio.itemrow')),
            ],
        ),
        migrations.AddField(
            model_name='itemrow',
            name='current',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.revisionrow'),
        ),
        migrations.CreateModel(
            name='TimeSpanRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('source', models.CharField(max_length=40)),
                ('start_at', models.DateTimeField()),
                ('end_at', models.DateTimeField()),
                ('n_beats', models.PositiveIntegerField(default=0)),
                ('is_open', models.BooleanField(default=False)),
                ('is_clock_back', models.BooleanField(default=False)),
                ('reason', models.TextField(blank=True, default='')),
                ('approved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('assignment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='studio.assignmentrow')),
                ('item', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='spans', to='studio.itemrow')),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='spans', to='studio.projectrow')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='spans', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='TimeCorrectionRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.CharField(max_length=40)),
                ('start_at', models.DateTimeField()),
                ('end_at', models.DateTimeField()),
                ('reason', models.TextField()),
                ('filed_at', models.DateTimeField()),
                ('state', models.CharField(max_length=40)),
                ('decided_at', models.DateTimeField(null=True)),
                ('answer', models.TextField(blank=True, default='')),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='corrections', to='studio.projectrow')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='corrections', to=settings.AUTH_USER_MODEL)),
                ('span', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, to='studio.timespanrow')),
            ],
        ),
        migrations.CreateModel(
            name='TransitionRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('event_id', models.CharField(max_length=64, unique=True)),
                ('event', models.TextField()),
                ('kind', models.CharField(max_length=40)),
                ('role', models.CharField(max_length=40)),
                ('by', models.CharField(max_length=64)),
                ('at', models.CharField(max_length=40)),
                ('state_before', models.CharField(max_length=40)),
                ('state_after', models.CharField(max_length=40)),
                ('chain_sha256', models.CharField(max_length=64)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='transitions', to='studio.itemrow')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='transitions', to='studio.projectrow')),
            ],
        ),
        migrations.CreateModel(
            name='ReviewRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('stage', models.CharField(max_length=40)),
                ('decision', models.CharField(blank=True, max_length=40)),
                ('feedback', models.TextField(blank=True, default='')),
                ('answer', models.TextField(blank=True, default='')),
                ('checks', models.JSONField(default=dict)),
                ('fields', models.JSONField(default=dict)),
                ('seconds', models.FloatField(null=True)),
                ('begun_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='studio.itemrow')),
                ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to=settings.AUTH_USER_MODEL)),
                ('revision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='studio.revisionrow')),
                ('transition', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, to='studio.transitionrow')),
            ],
        ),
        migrations.CreateModel(
            name='TrialRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('role', models.CharField(max_length=40)),
                ('words', models.TextField()),
                ('options', models.JSONField(default=list)),
                ('right', models.CharField(max_length=300)),
                ('why', models.TextField(blank=True, default='')),
                ('is_used', models.BooleanField(default=True)),
                ('at', models.DateTimeField()),
                ('medium', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.mediumrow')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='trials', to='studio.projectrow')),
            ],
        ),
        migrations.CreateModel(
            name='DraftLogRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('body', models.TextField()),
                ('request', models.CharField(max_length=64)),
                ('at', models.DateTimeField()),
                ('draft', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='log', to='studio.draftrow')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('draft', 'version'), name='draft_version_once'), models.UniqueConstraint(fields=('draft', 'request'), name='draft_request_once')],
            },
        ),
        migrations.CreateModel(
            name='GuidelineReadRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='readings', to=settings.AUTH_USER_MODEL)),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='readings', to='studio.guidelinerow')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'guideline'), name='read_by_once')],
            },
        ),
        migrations.AddIndex(
            model_name='assignmentrow',
            index=models.Index(fields=['user', 'state'], name='assignment_of_user'),
        ),
        migrations.AddConstraint(
            model_name='assignmentrow',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ('offered', 'claimed', 'submitted', 'released', 'expired'))), name='assignment_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='assignmentrow',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'claimed')), fields=('item', 'stage', 'user'), name='one_open_claim'),
        ),
        migrations.AddConstraint(
            model_name='boardrow',
            constraint=models.UniqueConstraint(fields=('made_set', 'board', 'key'), name='said_once_on_a_board'),
        ),
        migrations.AddConstraint(
            model_name='membershiprow',
            constraint=models.UniqueConstraint(fields=('user', 'project'), name='membership_once'),
        ),
        migrations.AddConstraint(
            model_name='membershiprow',
            constraint=models.UniqueConstraint(condition=models.Q(('project__isnull', True)), fields=('user',), name='membership_of_all_once'),
        ),
        migrations.AddConstraint(
            model_name='mediumrow',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('video', 'image', 'images', 'frames'))), name='medium_kind_is_known'),
        ),
        migrations.AddConstraint(
            model_name='mediumrow',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ('candidate', 'usable', 'refused', 'gone', 'taken-down'))), name='medium_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='mediumrow',
            constraint=models.UniqueConstraint(fields=('project', 'path'), name='medium_once'),
        ),
        migrations.AddConstraint(
            model_name='guidelinerow',
            constraint=models.UniqueConstraint(fields=('project', 'version'), name='guideline_version_once'),
        ),
        migrations.AddConstraint(
            model_name='draftrow',
            constraint=models.UniqueConstraint(condition=models.Q(('is_closed', False)), fields=('user', 'item', 'stage'), name='one_open_draft'),
        ),
        migrations.AddConstraint(
            model_name='projectrow',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ('setup', 'open', 'frozen', 'released', 'archived'))), name='project_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='qualificationrow',
            constraint=models.CheckConstraint(condition=models.Q(('n_right__lte', models.F('n_asked'))), name='no_more_right_than_asked'),
        ),
        migrations.AddConstraint(
            model_name='qualificationrow',
            constraint=models.UniqueConstraint(fields=('user', 'project', 'role', 'guideline', 'n_try'), name='try_once'),
        ),
        migrations.AddConstraint(
            model_name='qualificationrow',
            constraint=models.UniqueConstraint(condition=models.Q(('guideline__isnull', True)), fields=('user', 'project', 'role', 'n_try'), name='try_without_guideline_once'),
        ),
        migrations.AddConstraint(
            model_name='revisionrow',
            constraint=models.UniqueConstraint(fields=('item', 'n'), name='revision_once'),
        ),
        migrations.AddIndex(
            model_name='itemrow',
            index=models.Index(fields=['project', 'state', 'changed_at'], name='item_by_state'),
        ),
        migrations.AddIndex(
            model_name='itemrow',
            index=models.Index(fields=['project', 'state', 'writer', 'is_disputed', 'changed_at', 'claims'], name='item_in_queues'),
        ),
        migrations.AddConstraint(
            model_name='itemrow',
            constraint=models.UniqueConstraint(fields=('project', 'item_id'), name='item_once'),
        ),
        migrations.AddConstraint(
            model_name='itemrow',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ('drafting', 'submitted', 'in-review', 'returned', 'reviewed', 'in-meta', 'accepted', 'rejected', 'withdrawn', 'voided'))), name='item_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='itemrow',
            constraint=models.CheckConstraint(condition=models.Q(('returns_left__gte', 0)), name='no_second_return'),
        ),
        migrations.AddConstraint(
            model_name='timespanrow',
            constraint=models.CheckConstraint(condition=models.Q(('end_at__gte', models.F('start_at'))), name='spans_go_forward'),
        ),
        migrations.AddConstraint(
            model_name='timespanrow',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('active', 'idle'))), name='span_kind_is_known'),
        ),
        migrations.AddConstraint(
            model_name='timespanrow',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ('heartbeat', 'correction'))), name='span_source_is_known'),
        ),
        migrations.AddConstraint(
            model_name='timespanrow',
            constraint=models.UniqueConstraint(condition=models.Q(('is_open', True)), fields=('user',), name='one_open_span'),
        ),
        migrations.AddConstraint(
            model_name='timecorrectionrow',
            constraint=models.CheckConstraint(condition=models.Q(('end_at__gt', models.F('start_at'))), name='corrections_go_forward'),
        ),
        migrations.AddConstraint(
            model_name='timecorrectionrow',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('active', 'idle'))), name='correction_kind_is_known'),
        ),
        migrations.AddConstraint(
            model_name='timecorrectionrow',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ('filed', 'approved', 'refused'))), name='correction_state_is_known'),
        ),
        migrations.AddIndex(
            model_name='transitionrow',
            index=models.Index(fields=['item', 'number'], name='transition_of_item'),
        ),
        migrations.AddIndex(
            model_name='transitionrow',
            index=models.Index(fields=['by', 'item'], name='transition_of_person'),
        ),
        migrations.AddIndex(
            model_name='transitionrow',
            index=models.Index(fields=['project', 'by', 'at', 'kind', 'role'], name='transition_of_day'),
        ),
        migrations.AddConstraint(
            model_name='transitionrow',
            constraint=models.UniqueConstraint(fields=('project', 'number'), name='transition_once'),
        ),
        migrations.AddConstraint(
            model_name='transitionrow',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='transitions_count_from_1'),
        ),
        migrations.AddConstraint(
            model_name='reviewrow',
            constraint=models.UniqueConstraint(fields=('revision', 'stage', 'reviewer'), name='one_look_each'),
        ),
        migrations.AddConstraint(
            model_name='reviewrow',
            constraint=models.CheckConstraint(condition=models.Q(('author__isnull', True), models.Q(('reviewer', models.F('author')), _negated=True), _connector='OR'), name='nobody_reviews_their_own'),
        ),
    ]
