"""Backups of the databases of both servers and of the stored files: one folder, made while the servers run."""

from webapp.backups.folders import back_up, restore
