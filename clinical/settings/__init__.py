"""The settings of both servers and of every command, `BEFUND_*`, read in one place."""

from clinical.settings.ports import require_free_port
from clinical.settings.reader import Settings, address, base_urls, server_settings, settings
from clinical.settings.sources import FROM_FILES, NO_SETTINGS, NO_SETTINGS_BEGIN, PREFIX, ROOT, given
