"""The languages of participants' pages, by code and as their speakers write them; the catalogues are in `locale/`."""

from __future__ import annotations

LANGUAGES = {
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "pt": "Português",
    "ja": "日本語",
    "zh-hans": "简体中文",
    "ar": "العربية",
}
