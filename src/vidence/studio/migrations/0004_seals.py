from django.db import migrations


class Migration(migrations.Migration):
    """Rows get seals, so that earlier versions, which cannot write them, refuse the database."""

    dependencies = [
        ('studio', '0003_submissions'),
    ]
