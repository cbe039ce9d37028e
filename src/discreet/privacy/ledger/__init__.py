"""A budget that cannot be overspent: one file that every release is charged to, and stored in."""

from __future__ import annotations

from discreet.privacy.ledger.ledger import Ledger as Ledger
from discreet.privacy.ledger.records import Budget as Budget
from discreet.privacy.ledger.records import Charge as Charge
from discreet.privacy.ledger.records import Entry as Entry
from discreet.privacy.ledger.records import Paid as Paid
from discreet.privacy.ledger.records import Verdict as Verdict
