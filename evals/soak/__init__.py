"""Both servers under mixed load while what they rest on fails: is every answer the contract's, is nothing lost?"""
