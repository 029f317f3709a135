"""Vendor sign-in: OAuth 2.0 Authorization Code client, accounts, one-time passwords.

The walk of a sign-in: `blueprint` (leave, come back) -> `attempts` (is it ours?) -> `vendor` over `wire` (code -> token
-> claims) -> `profile` -> `accounts` (whose account?) -> `completion` (session, or first
an address with `otp` and `mail`).
"""
