// One document compared with its resource: what changes, what its row of ownership becomes, and how to apply it.
import type { DeclarativeChange, DeclarativeDocument } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import { fieldChange, isSame } from "./field-changes.ts";
import type { Current, Fields, Kind } from "./kinds.ts";
import type { Vault } from "../ports.ts";
import type { Owned, OwnershipStore } from "./ownership.ts";
import { createRotation, type Rotation } from "./rotated-secrets.ts";

export interface StepDeps {
  readonly ownership: OwnershipStore;
  readonly clock: Clock;
  readonly vault: Pick<Vault, "hashKey">;
}

/** A planned change with everything that is needed to apply it. */
export interface Step {
  readonly change: DeclarativeChange;
  /** The spec of the document; absent if no document describes the resource any more. */
  readonly spec?: unknown;
  /** Applies the change; returns the id of a created resource. */
  run(): Promise<number | undefined>;
}

export interface Comparison {
  readonly document: DeclarativeDocument;
  readonly manager: string;
  readonly current: Current | undefined;
  readonly wanted: Fields;
  /** Fields that the document sets. */
  readonly named: readonly string[];
  /** The resource as this document owned it before. */
  readonly mine: Owned | undefined;
  /** Another document that owned the same resource. */
  readonly rival: Owned | undefined;
  readonly missing: string;
  /** Explains what the state of the resource changes. */
  readonly note: string;
  /** The sources of secrets. */
  readonly origins: ReadonlyMap<string, string>;
  /** Overrides what was enabled or disabled by hand. */
  readonly force: boolean;
}

export function buildStep({ ownership, clock, vault }: StepDeps, kind: Kind<unknown>, comparison: Comparison): Step {
  const { document, manager, current, named, rival, missing, note } = comparison;
  const { spec, metadata } = document;
  const place = { kind: document.kind, name: metadata.name };
  const rotation = rotating(vault, comparison);
  const { changed, released, returned, overrideUntil } = findDifferences(comparison, rotation, seconds(clock));
  // A field without a value returns to its default.
  const fields = [
    ...changed.map((field) => fieldChange(kind, field, current, comparison.wanted)),
    ...released.map((field) => ({ field })),
  ];
  const action = current ? (fields.length > 0 ? "update" : "unchanged") : "create";
  const pastSecrets = rotation?.past(changed) ?? [];
  const details = {
    fields: named,
    ...readPolicies(document),
    ...(overrideUntil > 0 && { overrideUntil }),
    ...(pastSecrets.length > 0 && { pastSecrets }),
  };
  const owns = { ...place, owner: manager, ...details };
  // The message about a missing source already explains why there is no key.
  const message = describeStep(missing || note, returned, overrideUntil);
  const run = async () => {
    if (current && changed.length > 0) await kind.update(current, spec, changed);
    if (released.length > 0) await kind.reset?.(released);
    const id = current ? current.id : await kind.create(metadata.name, spec);
    if (rival) await ownership.forget(rival.kind, rival.name);
    await ownership.keep({ ...owns, resource_id: id });
    return id;
  };
  const change = {
    ...place,
    resource_id: current?.id ?? 0,
    action,
    fields,
    message,
    ...(overrideUntil > 0 && { override_until: overrideUntil }),
  } as const;
  return { change, spec, run };
}

/** Returns the text that is shown with the change; "" if there is none. */
function describeStep(note: string, returned: readonly string[], overrideUntil: number): string {
  const old =
    returned.length > 0 &&
    `not taken, because it was replaced before and this replica may read an old Secret: ${returned.join(", ")}; force takes it`;
  const override = overrideUntil > 0 && `switched by hand, until ${isoTime(overrideUntil)}`;
  return [note, old, override].filter(Boolean).join("; ");
}

interface Differences {
  readonly changed: readonly string[];
  /** Fields that the document set before, but no longer sets. */
  readonly released: readonly string[];
  /** Secrets whose new value is an earlier one. */
  readonly returned: readonly string[];
  /** Above 0 while a manual change takes precedence over the document. */
  readonly overrideUntil: number;
}

/** Undefined for a resource that does not exist yet. */
function rotating(vault: StepDeps["vault"], { current, wanted, mine, origins }: Comparison): Rotation | undefined {
  const known = mine?.pastSecrets ?? [];
  return current && createRotation({ vault, sources: origins, current: current.fields, wanted, known });
}

function findDifferences(comparison: Comparison, rotation: Rotation | undefined, now: number): Differences {
  const { document, current, wanted, mine, force } = comparison;
  const different = Object.keys(wanted).filter((field) => !isSame(current?.fields[field], wanted[field]));
  const returned = force ? [] : different.filter((field) => rotation?.returned.includes(field));
  const all = different.filter((field) => !returned.includes(field));
  const until = force ? 0 : (mine?.overrideUntil ?? 0);
  const isOverridden = until > now && all.includes("enabled");
  return {
    changed: isOverridden ? all.filter((field) => field !== "enabled") : all,
    released: isPruned(document) ? (mine?.fields ?? []).filter((field) => !Object.hasOwn(wanted, field)) : [],
    returned,
    overrideUntil: isOverridden ? until : 0,
  };
}

function isPruned(document: DeclarativeDocument): boolean {
  return document.kind === "OptionSet" && document.spec.prune === true;
}

function readPolicies(document: DeclarativeDocument): Pick<Owned, "deletionPolicy" | "priority" | "prune"> {
  if (document.kind === "Channel") return { deletionPolicy: document.spec.deletionPolicy ?? "Delete" };
  if (document.kind === "User") return { deletionPolicy: "Disable" };
  if (document.kind !== "OptionSet") return { deletionPolicy: "Delete" };
  return { deletionPolicy: "Delete", priority: document.spec.priority ?? 0, prune: isPruned(document) };
}

function isoTime(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().replace(".000Z", "Z");
}
