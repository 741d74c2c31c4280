import { createHash } from "node:crypto";
import { DeclarativeDocument, type DeclarativeChange, type FieldChange } from "@fairway/wire";
import { Refusal } from "../../lib/refusal.ts";
import type { Current, Fields, Kind } from "./kinds.ts";
import type { Owned, OwnershipStore } from "./ownership.ts";

export interface PlannerDeps {
  readonly kinds: Readonly<Record<string, Kind<unknown>>>;
  readonly ownership: OwnershipStore;
}

export interface Wanted {
  readonly manager: string;
  readonly documents: readonly unknown[];
  readonly prune: boolean;
  readonly force: boolean;
}

/** A planned change with what is needed to make it. */
interface Step {
  readonly change: DeclarativeChange;
  run(): Promise<void>;
}

const CHANGED = "(changed)";
/** Fewer than this may all be deleted at once. */
const GUARDED_FROM = 3;

/** What the documents would change, or with `isApplied` what they changed. One planner for files and clusters. */
export async function reconcile(deps: PlannerDeps, wanted: Wanted, isApplied: boolean): Promise<DeclarativeChange[]> {
  const documents = wanted.documents.map(readDocument);
  const owned = await deps.ownership.all();
  const steps: Step[] = [];
  const seen = new Set<string>();
  for (const document of documents) {
    const { kind, metadata } = document;
    if (seen.has(`${kind} ${metadata.name}`)) throw unusable(metadata.name, "there are two of this name");
    seen.add(`${kind} ${metadata.name}`);
    steps.push(await stepFor(deps, document, wanted, owned));
  }
  if (wanted.prune) steps.push(...deletions(deps, wanted, owned, seen));
  if (isApplied) for (const { run } of steps) await run();
  return steps.map(({ change }) => change);
}

function readDocument(input: unknown, at: number): DeclarativeDocument {
  const parsed = DeclarativeDocument.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = (input as { metadata?: { name?: unknown } } | null)?.metadata?.name;
  throw unusable(
    typeof name === "string" ? name.slice(0, 64) : `${at + 1}`,
    `${issue?.path.map(String).join(".") ?? ""}: ${issue?.message ?? ""}`,
  );
}

function unusable(name: string, reason: string): Refusal {
  return new Refusal("M2", { values: { name, reason } });
}

async function stepFor(
  deps: PlannerDeps,
  document: DeclarativeDocument,
  { manager, force }: Wanted,
  owned: readonly Owned[],
): Promise<Step> {
  const { kind: kindName, metadata, spec } = document;
  const { name } = metadata;
  const kind = deps.kinds[kindName];
  if (!kind) throw unusable(name, `there is no kind ${kindName}`);
  const wanted = await kind.desired(name, spec);
  const mine = owned.find((one) => one.kind === kindName && one.name === name);
  const current = await kind.find(name, spec, mine?.resource_id);
  const lacking = current ? "" : kind.lacks(spec);
  if (lacking !== "") throw unusable(name, lacking);
  const conflict = conflictOf({ manager, force, name, kindName }, mine, owned, wanted);
  const reason = conflict || (current ? kind.refusal(current, wanted) : "");
  if (reason === "") return stepOf(deps, kind, { document, manager, current, wanted });
  const change = { kind: kindName, name, resource_id: current?.id ?? 0, fields: [], message: reason };
  return { change: { ...change, action: "conflict" }, run: () => Promise.resolve() };
}

interface Comparison {
  readonly document: DeclarativeDocument;
  readonly manager: string;
  readonly current: Current | undefined;
  readonly wanted: Fields;
}

function stepOf(
  { ownership }: PlannerDeps,
  kind: Kind<unknown>,
  { document, manager, current, wanted }: Comparison,
): Step {
  const { spec, metadata } = document;
  const place = { kind: document.kind, name: metadata.name };
  const changed = Object.keys(wanted).filter((field) => !isSame(current?.fields[field], wanted[field]));
  const action = current ? (changed.length > 0 ? "update" : "unchanged") : "create";
  const fields = changed.map((field) => fieldChange(kind, field, current, wanted));
  const owns = { ...place, owner: manager, fields: Object.keys(wanted), deletionPolicy: policyOf(document) };
  const run = async () => {
    if (current && action === "update") await kind.update(current, spec, changed);
    const id = current ? current.id : await kind.create(metadata.name, spec);
    await ownership.keep({ ...owns, resource_id: id }, hashOf(spec));
  };
  return { change: { ...place, resource_id: current?.id ?? 0, action, fields, message: "" }, run };
}

/** The first owner keeps it, unless force is asked for. Option sets may not name the same option. */
function conflictOf(
  { manager, force, name, kindName }: { manager: string; force: boolean; name: string; kindName: string },
  mine: Owned | undefined,
  owned: readonly Owned[],
  wanted: Fields,
): string {
  if (force) return "";
  if (mine && mine.owner !== manager) return `it is managed by ${mine.owner}`;
  if (kindName !== "OptionSet") return "";
  const others = owned.filter((one) => one.kind === kindName && one.name !== name);
  const rival = others.find(({ fields }) => fields.some((field) => Object.hasOwn(wanted, field)));
  return rival ? `one of its options is set by ${rival.name} of ${rival.owner}` : "";
}

function policyOf(document: DeclarativeDocument): Owned["deletionPolicy"] {
  return (document.kind === "Channel" ? document.spec.deletionPolicy : undefined) ?? "Delete";
}

function fieldChange(
  { secrets }: Kind<unknown>,
  field: string,
  current: Current | undefined,
  wanted: Fields,
): FieldChange {
  if (secrets.has(field)) return { field, new: CHANGED };
  return { field, ...(current && { old: current.fields[field] }), new: wanted[field] };
}

function deletions(
  deps: PlannerDeps,
  { manager, force }: Wanted,
  owned: readonly Owned[],
  seen: ReadonlySet<string>,
): Step[] {
  const mine = owned.filter(({ owner }) => owner === manager);
  const gone = mine.filter(({ kind, name }) => !seen.has(`${kind} ${name}`));
  if (!force && gone.length >= GUARDED_FROM && gone.length * 2 > mine.length)
    throw new Refusal("M3", { values: { manager } });
  return gone.map(({ kind, name, resource_id, deletionPolicy }) => ({
    change: { kind, name, action: "delete", fields: [], message: "", resource_id },
    run: async () => {
      const { disable, remove } = deps.kinds[kind] ?? {};
      if (deletionPolicy === "Disable" && disable) await disable(resource_id);
      else if (deletionPolicy !== "Orphan") await remove?.(resource_id);
      await deps.ownership.forget(kind, name);
    },
  }));
}

function isSame(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** JSON with sorted names: the order of members means nothing. */
function canonical(value: unknown): string {
  const sorted = (_name: string, inner: unknown): unknown =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  return JSON.stringify(value, sorted) ?? "";
}

function hashOf(spec: unknown): string {
  return createHash("sha256").update(canonical(spec)).digest("hex");
}
