import {
  declarativeExport,
  DECLARATIVE_VERSION,
  isHiddenOption,
  type Client,
  type DeclarativeChange,
  type FieldChange,
} from "@fairway/wire";
import type { Output } from "../../print/output.ts";
import { unifiedHunks } from "../../print/unified.ts";
import { documentText } from "./files.ts";
import { formatDocumentName, SIGN } from "./plan.ts";

type Members = Readonly<Record<string, unknown>>;

interface Side {
  readonly kind: string;
  readonly name: string;
  /** Undefined if the document does not exist. */
  readonly spec: Members | undefined;
}

/** Replaces secrets on both sides. */
const HIDDEN = "(hidden)";

/** The gateway's word for a secret that differs. */
const CHANGED = "(changed)";

/** Prints the plan as a patch of the documents: the state of the gateway before and after. */
export async function printUnified(
  client: Client,
  { documents, plan }: { readonly documents: readonly unknown[]; readonly plan: readonly DeclarativeChange[] },
  output: Output,
): Promise<void> {
  const written = new Map(
    documents.map((one) => [formatDocumentName(one as Parameters<typeof formatDocumentName>[0]), one as Members]),
  );
  const gone = plan.some(({ action }) => action === "delete")
    ? await exportedSpecs(client)
    : new Map<string, Members>();
  for (const change of plan) {
    const { kind, name, action, message } = change;
    if (message !== "") output.note(`${SIGN[action]} ${kind}/${name}: ${message}`);
    if (action === "conflict" || action === "unchanged") continue;
    const spec = shownSpec(kind, (written.get(`${kind}/${name}`)?.["spec"] ?? {}) as Members);
    const [before, after] =
      action === "delete"
        ? [gone.get(buildChangeKey(change)) ?? {}, undefined]
        : buildSides(spec, change, kind === "OptionSet");
    const place = { kind, name };
    for (const line of formatPatch(
      { ...place, spec: action === "create" ? undefined : before },
      { ...place, spec: after },
    ))
      output.out(line);
  }
}

function formatPatch(before: Side, after: Side): string[] {
  const file = `${after.kind}/${after.name}.yaml`;
  const head = [`--- ${before.spec ? `a/${file}` : "/dev/null"}`, `+++ ${after.spec ? `b/${file}` : "/dev/null"}`];
  const hunks = unifiedHunks(formatSide(before), formatSide(after));
  return hunks.length === 0 ? [] : [...head, ...hunks];
}

function formatSide({ kind, name, spec }: Side): string {
  if (!spec) return "";
  return documentText({ apiVersion: DECLARATIVE_VERSION, kind, metadata: { name }, spec }).replace(/^---\n/, "");
}

/** Returns the members of a document without its secrets. */
function shownSpec(kind: string, spec: Members): Members {
  if (kind === "Channel") return Object.hasOwn(spec, "key") ? { ...spec, key: HIDDEN } : spec;
  if (kind !== "OptionSet") return spec;
  return Object.fromEntries(
    Object.entries(spec).map(([member, options]) => [
      member,
      member === "values" || member === "json" ? shownOptions(options as Members) : options,
    ]),
  );
}

function shownOptions(options: Members): Members {
  return Object.fromEntries(
    Object.entries(options).map(([option, value]) => [option, isHiddenOption(option) ? HIDDEN : value]),
  );
}

/** A document does not mention what it leaves alone, so its other members are the same on both sides. */
function buildSides(spec: Members, { fields }: DeclarativeChange, isOptions: boolean): readonly [Members, Members] {
  const sides = (side: "old" | "new") => fields.reduce((all, field) => withField(all, field, side, isOptions), spec);
  return [sides("old"), sides("new")];
}

function withField(spec: Members, change: FieldChange, side: "old" | "new", isOptions: boolean): Members {
  const { field } = change;
  const value = pickSideValue(change, side);
  const place = isOptions ? (Object.hasOwn((spec["json"] ?? {}) as Members, field) ? "json" : "values") : undefined;
  if (place === undefined) return withMember(spec, field, value);
  return { ...spec, [place]: withMember((spec[place] ?? {}) as Members, field, value) };
}

function pickSideValue({ old, new: next }: FieldChange, side: "old" | "new"): unknown {
  // The set no longer names this option.
  if (old === undefined && next === undefined) return side === "old" ? "(as stored)" : "(default)";
  if (side === "old" && next === CHANGED) return HIDDEN;
  return side === "old" ? old : next;
}

function withMember(members: Members, name: string, value: unknown): Members {
  if (value !== undefined) return { ...members, [name]: value };
  const { [name]: _absent, ...others } = members;
  return others;
}

/** Exports the rows of the gateway as documents, by kind and id; option sets by name. */
async function exportedSpecs(client: Client): Promise<ReadonlyMap<string, Members>> {
  const { data } = await client.call(declarativeExport, { query: { ids: true } });
  return new Map(
    data.map(({ kind, metadata, spec }) => {
      const id = Number(metadata.annotations?.["fairway.dev/id"] ?? 0);
      return [buildChangeKey({ kind, name: metadata.name, resource_id: id }), spec];
    }),
  );
}

function buildChangeKey({
  kind,
  name,
  resource_id: id,
}: Pick<DeclarativeChange, "kind" | "name" | "resource_id">): string {
  return id > 0 ? `${kind} ${id}` : `${kind} ${name}`;
}
