"""Vendor sign-in: OAuth 2.0 Authorization Code client, accounts, one-time passwords.

The walk of a sign-in: `blueprint` (leave, come back) -> `attempts` (is it ours?) -> `vendor` over `wire` (code -> token
-> claims) -> `profile` -> `accounts` (whose account?) -> `signing_in` (session), or `completion` with `otp` and `mail`.
"""
