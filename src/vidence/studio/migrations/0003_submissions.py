import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studio', '0002_studies'),
    ]

    operations = [
        migrations.CreateModel(
            name='LeaderboardRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(max_length=300)),
                ('split', models.CharField(max_length=40)),
                ('items', models.TextField()),
                ('items_sha256', models.CharField(max_length=64)),
                ('n_items', models.PositiveIntegerField()),
                ('is_open_ended', models.BooleanField()),
                ('most_a_day', models.PositiveIntegerField()),
                ('most_in_all', models.PositiveIntegerField()),
                ('ends_at', models.DateTimeField(null=True)),
                ('opened_at', models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name='userrow',
            name='team',
            field=models.CharField(blank=True, default='', max_length=150),
        ),
        migrations.CreateModel(
            name='SubmissionRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('team', models.CharField(max_length=150)),
                ('at', models.DateTimeField()),
                ('day', models.DateField()),
                ('answers', models.TextField()),
                ('sha256', models.CharField(max_length=64)),
                ('state', models.CharField(max_length=40)),
                ('points', models.PositiveSmallIntegerField(null=True)),
                ('strata', models.JSONField(default=dict)),
                ('scored_at', models.DateTimeField(null=True)),
                ('lease', models.CharField(blank=True, max_length=40)),
                ('leased_until', models.DateTimeField(null=True)),
                ('n_leases', models.PositiveSmallIntegerField(default=0)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['state', 'leased_until'], name='submission_in_queue')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ('queued', 'scored', 'failed'))), name='submission_state_is_known'), models.UniqueConstraint(condition=models.Q(('state', 'failed'), _negated=True), fields=('team', 'sha256'), name='submitted_once')],
            },
        ),
    ]
