"""The custodian's server: analysts ask, the ledger's rule answers, nobody sees a row.

`store` keeps everything in one database, `accounts` says who may do what, `datasets` what is public about the
data, `budget` what may still be asked, `jobs` runs it in processes that can be killed, `http` speaks with
people and programs, `client` is the other end of the line. Extra: "server"; the client needs none.
"""
