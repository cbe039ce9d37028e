"""A budget that cannot be overspent: one file, every charge written before its noise is drawn."""

from __future__ import annotations

from discreet.privacy.ledger.ledger import Ledger as Ledger
from discreet.privacy.ledger.records import Budget as Budget
from discreet.privacy.ledger.records import Charge as Charge
from discreet.privacy.ledger.records import Entry as Entry
from discreet.privacy.ledger.records import Verdict as Verdict
