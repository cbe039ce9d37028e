"""What custodians do on pages: data sets, shares, accounts, approvals, the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from discreet.errors import DiscreetError, InputError
from discreet.server import audit, budget
from discreet.server.accounts import credentials, people
from discreet.server.datasets import metadata, registry, shares
from discreet.server.http.render import page
from discreet.server.http.session import config_of, form_page, store_of
from discreet.server.jobs import view

if TYPE_CHECKING:
    from starlette.requests import Request

    from discreet.server.accounts.credentials import Visitor


def register(request: Request, who: Visitor, form: dict[str, str]) -> Response:
    """Register a data set."""
    if not form:
        return page("register.html", who, form={}, words="")
    try:
        about = metadata.from_toml(form.get("metadata", ""))
        source = {name: form.get(name, "").strip() for name in registry.SOURCE}
        with store_of(request).writing() as db:
            made = registry.register(
                db,
                who.account.name,
                form.get("name", "").strip(),
                source,
                about,
                epsilon=number(form, "epsilon"),
                delta=number(form, "delta"),
                second_total=form.get("second_total") == "yes",
            )
    except DiscreetError as refusal:
        return page("register.html", who, 400, form=form, words=str(refusal))
    return RedirectResponse(f"/custody/datasets/{made.name}", 303)


def manage(request: Request, who: Visitor, form: dict[str, str]) -> Response:
    """Show everything about a data set, and change what can be changed."""
    name, words = request.path_params["name"], ""
    if form:
        try:
            with store_of(request).writing() as db:
                _change(db, who.account.name, name, form)
        except DiscreetError as refusal:
            words = str(refusal)
        else:
            return RedirectResponse(f"/custody/datasets/{name}", 303)
    with store_of(request).reading() as db:
        entry = registry.find(db, name)
        states = {holder: state.budget(holder or name) for holder, state in budget.purses(db, name).items()}
        shown = {"jobs": view.everything(db, name), "versions": registry.versions(db, name)}
    text = form.get("metadata") or metadata.to_toml(entry.about)
    status = 400 if words else 200
    return page("manage.html", who, status, found=entry, purses=states, **shown, words=words, text=text)


def _change(db: Any, actor: str, name: str, form: dict[str, str]) -> None:
    match form.get("action"):
        case "share":
            shares.grant(
                db,
                actor,
                name,
                form.get("holder", "").strip(),
                number(form, "epsilon"),
                number(form, "delta"),
            )
        case "metadata":
            registry.change(db, actor, name, metadata.from_toml(form.get("metadata", "")))
        case "pause":
            registry.set_state(db, actor, name, "paused", form.get("reason", ""))
        case "resume":
            registry.set_state(db, actor, name, "open")
        case "retire":
            registry.set_state(db, actor, name, "retired", form.get("reason", ""))
        case _:
            raise InputError("say what to do")


def review(request: Request, who: Visitor, form: dict[str, str]) -> Response:
    """Do what a form says about a question that waits for a custodian."""
    with store_of(request).writing() as db:
        view.review(
            db, who.account.name, request.path_params["id"], form.get("action", ""), form.get("reason", "")
        )
    return RedirectResponse("/", 303)


def accounts(request: Request, who: Visitor, form: dict[str, str]) -> Response:
    """List accounts; make one and its one-time link, change one, or close one."""
    words, link = "", ""
    try:
        if form and _change_account(request, who.account.name, form):
            with store_of(request).writing() as db:
                secret = credentials.invite(db, who.account.name, form["name"].strip())
            link = f"{config_of(request).site}/invite/{secret}"
    except DiscreetError as refusal:
        words = str(refusal)
    with store_of(request).reading() as db:
        listed = people.listed(db)
    return page("accounts.html", who, 400 if words else 200, accounts=listed, words=words, link=link)


def _change_account(request: Request, actor: str, form: dict[str, str]) -> bool:
    """Do what a form says to an account; return whether its owner needs a one-time link."""
    action, name, role = form.get("action"), form.get("name", "").strip(), form.get("role", "")
    team = form.get("team", "").strip()
    with store_of(request).writing() as db:
        match action:
            case "create":
                people.create(db, actor, name, role, team)
            case "invite":
                people.find(db, name)
            case "role":
                people.change(db, actor, name, role, team)
            case "end":
                people.end_sessions(db, actor, name)
            case "disable":
                if name == actor:
                    raise InputError("you cannot close your own account")
                people.disable(db, actor, name)
            case _:
                raise InputError("say what to do")
    return action in {"create", "invite"}


def log(request: Request, who: Visitor, form: dict[str, str]) -> Response:
    """Show the end of the audit log."""
    del form
    with store_of(request).reading() as db:
        rows, end = audit.latest(db, 200), audit.end(db)
    return page("audit.html", who, rows=rows, end=end)


def export(request: Request, who: Visitor, form: dict[str, str]) -> Response:
    """Hand out the whole audit log as lines of JSON."""
    del who, form
    with store_of(request).reading() as db:
        text = "\n".join(audit.export(db)) + "\n"
    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
    return PlainTextResponse(text, media_type="application/jsonl", headers=headers)


def number(form: dict[str, str], name: str) -> float:
    """Return a number of a form."""
    try:
        return float(form.get(name, ""))
    except ValueError:
        raise InputError(f"{name} must be a number") from None


_BOTH = ["GET", "POST"]
routes = [
    Route("/custody/register", form_page(register, "custodian"), methods=_BOTH),
    Route("/custody/accounts", form_page(accounts, "custodian"), methods=_BOTH),
    Route("/custody/review/{id}", form_page(review, "custodian"), methods=["POST"]),
    Route("/custody/datasets/{name}", form_page(manage, "custodian"), methods=_BOTH),
    Route("/audit", form_page(log, "custodian", "auditor")),
    Route("/audit.jsonl", form_page(export, "custodian", "auditor")),
]
