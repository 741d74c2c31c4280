import type { DeclarativeChange, DeclarativeDocument } from "@fairway/wire";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import { Refusal } from "../../lib/refusal.ts";
import { buildStep, type Step, type StepDeps } from "./build-step.ts";
import type { Current, DescribedUsers, Fields, InState, Kind } from "./kinds.ts";
import { byPriority, createOptionClaims, type OptionClaims } from "./option-claims.ts";
import type { Owned } from "./ownership.ts";
import { checkPlace, readDocument, readReason, unusable } from "./read-document.ts";
import { resolveSecrets, type SecretSources } from "./secret-sources.ts";
import { resolveUsername } from "./user-kind.ts";

export interface PlannerDeps extends StepDeps {
  readonly kinds: Readonly<Record<string, Kind<unknown>>>;
  readonly secrets: SecretSources;
}

export interface Wanted {
  readonly manager: string;
  readonly documents: readonly unknown[];
  readonly prune: boolean;
  readonly force: boolean;
  /** Documents to delete as well, if the manager owns them. */
  readonly removed?: readonly RemovedDocument[];
  /** Receives a document that cannot be used; if absent, such a document fails the whole apply. */
  readonly onRefused?: (document: DeclarativeDocument, refusal: Refusal) => void;
}

/** What identifies a document. */
export interface DocumentId {
  readonly kind: string;
  readonly name: string;
}

/** A document whose object is deleted by its policy, or stays without an owner. */
export interface RemovedDocument extends DocumentId {
  readonly isRetained?: boolean;
}

/** State that is read before the first document is compared. */
interface Setting extends Wanted {
  readonly owned: readonly Owned[];
  readonly claims: OptionClaims;
  readonly users: DescribedUsers;
}

const NOTHING_IN_STATE: InState = { changed: {}, note: "" };
/** Maximum number of further documents that an error names. */
const MAX_REASONS = 20;
/** If there are fewer resources than this, all may be deleted at once. */
const GUARDED_FROM = 3;

/**
 * Returns the changes that the documents would make, or, with `isApplied`, have made. Files and clusters share this
 * planner. All documents are compared before the first one is written; the caller runs it in one transaction.
 */
export async function reconcile(deps: PlannerDeps, wanted: Wanted, isApplied: boolean): Promise<DeclarativeChange[]> {
  const documents = wanted.documents.map(readDocument);
  const named = collectNames(documents);
  const owned = await deps.ownership.all();
  const removed = new Set(wanted.removed?.map(documentKey));
  const gone = owned.filter(
    (one) =>
      one.owner === wanted.manager && !named.has(documentKey(one)) && (wanted.prune || removed.has(documentKey(one))),
  );
  const isReplaced = (one: Owned) => named.has(documentKey(one)) && (wanted.force || one.owner === wanted.manager);
  const claims = createOptionClaims(owned.filter((one) => !isReplaced(one) && !gone.includes(one)));
  const steps = new Map<DeclarativeDocument, Step>();
  const refused = new Map<DeclarativeDocument, Refusal>();
  const onRefused: Wanted["onRefused"] =
    wanted.onRefused ?? ((document, refusal) => void refused.set(document, refusal));
  const users = new Set<string>();
  for (const document of usersFirst(byPriority(documents))) {
    const step = await stepOrRefusal(deps, document, { ...wanted, onRefused, owned, claims, users });
    if (step) steps.set(document, step);
    if (step && document.kind === "User")
      users.add(usernameKey(resolveUsername(document.metadata.name, document.spec)));
  }
  failTogether(refused);
  const compared = documents.flatMap((document) => steps.get(document) ?? []);
  const inOrder = withoutShared(compared, wanted.manager);
  const orphans = gone.filter((one) => !inOrder.some(({ change }) => isTakenOver(one, change)));
  const all = [...inOrder, ...deletions(deps, wanted, owned, orphans)];
  if (!isApplied) return all.map(({ change }) => change);
  await lockAll(deps, all);
  const created = new Map<Step, number | undefined>();
  for (const step of inOrderOfUse(all)) created.set(step, await step.run());
  await claims.settle(deps.ownership);
  return all.map((step) => ({ ...step.change, resource_id: created.get(step) ?? step.change.resource_id }));
}

/** Throws one refusal that lists everything that is missing, so that one more apply is enough. */
function failTogether(refused: ReadonlyMap<DeclarativeDocument, Refusal>): void {
  const [first, ...others] = refused;
  if (!first) return;
  if (others.length === 0) throw first[1];
  const reasons = others
    .slice(0, MAX_REASONS)
    .map(([{ metadata }, refusal]) => `${metadata.name}: ${readReason(refusal)}`);
  const rest = others.length > MAX_REASONS ? [`${others.length - MAX_REASONS} more`] : [];
  throw unusable(first[0].metadata.name, [readReason(first[1]), ...reasons, ...rest].join("; "));
}

function usersFirst(documents: readonly DeclarativeDocument[]): DeclarativeDocument[] {
  return documents.toSorted((a, b) => Number(b.kind === "User") - Number(a.kind === "User"));
}

/** Sorts the steps: tokens belong to users, and budgets may limit what the others create. */
function inOrderOfUse(steps: readonly Step[]): Step[] {
  const rank = ({ change: { kind } }: Step) => (kind === "User" ? 0 : kind === "Budget" ? 2 : 1);
  return steps.toSorted((a, b) => rank(a) - rank(b));
}

async function stepOrRefusal(
  deps: PlannerDeps,
  document: DeclarativeDocument,
  setting: Setting,
): Promise<Step | undefined> {
  try {
    return await stepFor(deps, document, setting);
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || !setting.onRefused) throw thrown;
    setting.onRefused(document, thrown);
    return undefined;
  }
}

async function lockAll({ kinds }: PlannerDeps, steps: readonly Step[]): Promise<void> {
  for (const kind of Object.values(kinds)) {
    const own = steps.filter(({ change }) => change.kind === kind.kind);
    const of = (...actions: readonly string[]) => own.filter(({ change }) => actions.includes(change.action));
    const ids = of("update", "delete").map(({ change }) => change.resource_id);
    await kind.lock?.(
      ids,
      of("create").map(({ spec }) => spec),
    );
  }
}

/** Returns the steps with a conflict where two documents describe the same resource: the first one has it. */
function withoutShared(steps: readonly Step[], manager: string): Step[] {
  const names = new Map<string, string>();
  return steps.map((step) => {
    const { kind, name, resource_id: id, action } = step.change;
    if (id === 0 || action === "conflict") return step;
    const first = names.get(`${kind} ${id}`);
    names.set(`${kind} ${id}`, first ?? name);
    return first === undefined ? step : conflict(step.change, `it is managed as ${first} by ${manager}`);
  });
}

function conflict(
  { kind, name, resource_id }: Pick<DeclarativeChange, "kind" | "name" | "resource_id">,
  message: string,
): Step {
  return {
    change: { kind, name, resource_id, fields: [], message, action: "conflict" },
    run: () => Promise.resolve(undefined),
  };
}

/** Returns true if another document now has the resource, so that it is not deleted with its earlier document. */
function isTakenOver({ kind, resource_id }: Owned, change: DeclarativeChange): boolean {
  return (
    resource_id !== 0 && change.kind === kind && change.resource_id === resource_id && change.action !== "conflict"
  );
}

function documentKey({ kind, name }: DocumentId): string {
  return `${kind} ${name}`;
}

function collectNames(documents: readonly DeclarativeDocument[]): ReadonlySet<string> {
  const seen = new Set<string>();
  for (const { kind, metadata } of documents) {
    const place = documentKey({ kind, name: metadata.name });
    if (seen.has(place)) throw unusable(metadata.name, "there are two of this name");
    seen.add(place);
  }
  return seen;
}

async function stepFor(deps: PlannerDeps, written: DeclarativeDocument, setting: Setting): Promise<Step> {
  const { document, missing, sources: origins } = await resolveSecrets(written, deps.secrets);
  const { kind: kindName, metadata, spec } = document;
  const { name } = metadata;
  checkPlace(written, deps.secrets.cluster !== undefined);
  const kind = deps.kinds[kindName];
  if (!kind) throw unusable(name, `there is no kind ${kindName}`);
  const desired = await kind.desired(name, spec, setting.users);
  const mine = setting.owned.find((one) => one.kind === kindName && one.name === name);
  const current = await kind.find(name, spec, mine?.resource_id);
  const { changed, note } = kind.inState?.(desired, current, spec) ?? NOTHING_IN_STATE;
  const wanted = { ...desired, ...changed };
  if (!current) checkComplete(kind, name, spec);
  const rival = findRival({ kindName, name, current }, setting.owned);
  const reason = describeConflict(document, { mine, rival, wanted }, setting) || findRefusal(kind, current, wanted);
  if (reason !== "") return conflict({ kind: kindName, name, resource_id: current?.id ?? 0 }, reason);
  const { manager, force } = setting;
  return buildStep(deps, kind, {
    document,
    manager,
    force,
    current,
    wanted,
    named: Object.keys(desired),
    mine,
    rival,
    missing: current && kind.areSecretsForNew ? "" : missing,
    note,
    origins,
  });
}

/** Throws `document_invalid` if a new resource lacks something. */
function checkComplete(kind: Kind<unknown>, name: string, spec: unknown): void {
  const lacking = kind.lacks(spec);
  if (lacking !== "") throw unusable(name, lacking);
}

/** Returns why the kind cannot change the resource; "" for new ones and for allowed changes. */
function findRefusal(kind: Kind<unknown>, current: Current | undefined, wanted: Fields): string {
  return current ? kind.refusal(current, wanted) : "";
}

/** Returns another document that owns the resource that this one found by its name or adopts. */
function findRival(
  { kindName, name, current }: { kindName: string; name: string; current: Current | undefined },
  owned: readonly Owned[],
): Owned | undefined {
  if (!current || current.id === 0) return undefined;
  return owned.find((one) => one.kind === kindName && one.name !== name && one.resource_id === current.id);
}

/**
 * Returns the conflict with the first owner, which retains the resource unless the document has force. Of option sets,
 * the stronger one has an option.
 */
function describeConflict(
  document: DeclarativeDocument,
  { mine, rival, wanted }: { mine: Owned | undefined; rival: Owned | undefined; wanted: Fields },
  { manager, force, claims }: Setting,
): string {
  if (!force && mine && mine.owner !== manager) return `it is managed by ${mine.owner}`;
  if (!force && rival) return `it is managed as ${rival.name} by ${rival.owner}`;
  if (document.kind !== "OptionSet") return "";
  const { name } = document.metadata;
  return claims.take({ name, owner: manager, priority: document.spec.priority ?? 0, force }, Object.keys(wanted));
}

function deletions(
  deps: PlannerDeps,
  { manager, force, prune, removed = [] }: Wanted,
  owned: readonly Owned[],
  gone: readonly Owned[],
): Step[] {
  const mine = owned.filter(({ owner }) => owner === manager);
  if (prune && !force && gone.length >= GUARDED_FROM && gone.length * 2 > mine.length)
    throw new Refusal("mass_deletion_refused", { values: { manager } });
  const retained = new Set(removed.filter(({ isRetained }) => isRetained).map(documentKey));
  const isRetained = (one: Owned) => retained.has(documentKey(one)) || one.deletionPolicy === "Orphan";
  return gone.map((one) => ({
    change: {
      kind: one.kind,
      name: one.name,
      action: "delete",
      fields: [],
      message: describeDeletion(one, retained.has(documentKey(one))),
      resource_id: one.resource_id,
    },
    run: async () => {
      const { disable, remove } = deps.kinds[one.kind] ?? {};
      const end = one.deletionPolicy === "Disable" && disable ? () => disable(one.resource_id) : () => remove?.(one);
      if (!isRetained(one)) await end();
      await deps.ownership.forget(one.kind, one.name);
      return undefined;
    },
  }));
}

function describeDeletion({ kind }: Owned, isRetained: boolean): string {
  if (isRetained) return "what it described stays";
  return kind === "User" ? "the account is disabled, and stays" : "";
}
