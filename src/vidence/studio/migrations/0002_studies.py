import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studio', '0001_first'),
    ]

    operations = [
        migrations.CreateModel(
            name='StudyRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('folder', models.TextField(unique=True)),
                ('title', models.CharField(max_length=300)),
                ('sha256', models.CharField(max_length=64)),
                ('key', models.CharField(blank=True, max_length=48)),
                ('state', models.CharField(max_length=40)),
                ('opened_at', models.DateTimeField()),
                ('closed_at', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ('open', 'closed'))), name='study_state_is_known')],
            },
        ),
        migrations.CreateModel(
            name='ParticipantRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=16)),
                ('slot', models.PositiveIntegerField()),
                ('state', models.CharField(max_length=40)),
                ('recruited', models.CharField(max_length=40)),
                ('key', models.CharField(blank=True, max_length=48)),
                ('browser', models.CharField(blank=True, max_length=64)),
                ('ident', models.CharField(blank=True, max_length=200)),
                ('parameters', models.JSONField(default=dict)),
                ('px_per_cm', models.FloatField(null=True)),
                ('began_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='participants', to='studio.studyrow')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'slot'), name='slot_once'), models.UniqueConstraint(fields=('study', 'user'), name='account_once'), models.UniqueConstraint(condition=models.Q(('ident', ''), _negated=True), fields=('study', 'ident'), name='recruited_once'), models.CheckConstraint(condition=models.Q(('state__in', ('invited', 'declined', 'begun', 'finished', 'withdrawn'))), name='participant_state_is_known')],
            },
        ),
        migrations.CreateModel(
            name='StudyEventRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(max_length=40)),
                ('place', models.PositiveIntegerField(null=True)),
                ('note', models.TextField(blank=True, default='')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='studio.participantrow')),
            ],
        ),
        migrations.CreateModel(
            name='ResponseRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveIntegerField()),
                ('trial', models.TextField()),
                ('version', models.PositiveIntegerField(default=0)),
                ('request', models.CharField(blank=True, max_length=64)),
                ('draft', models.TextField(default='{}')),
                ('entered', models.TextField(default='{}')),
                ('saved_at', models.DateTimeField()),
                ('shown_at', models.DateTimeField()),
                ('answered_at', models.DateTimeField(null=True)),
                ('n_plays', models.PositiveIntegerField(default=0)),
                ('n_changes', models.PositiveIntegerField(default=0)),
                ('late_frames', models.PositiveIntegerField(default=0)),
                ('problem', models.TextField(blank=True, default='')),
                ('views', models.TextField(default='{}')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='studio.participantrow')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('participant', 'place'), name='response_once')],
            },
        ),
    ]
