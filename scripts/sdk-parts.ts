// `npm run sdk-parts`: reads the parts, items, blocks and tools that requests may hold from the types of the official
// clients and writes the smallest sample of each to packages/testkit/src/sdk-parts/sdk-parts.json.
// `--check` only compares.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { API, SymbolFlags, TypeFlags, type Checker, type Type } from "typescript/unstable/sync";
import { ROOT } from "./bootstrap.mjs";

const FOLDER = join(ROOT, "packages/testkit/src/sdk-parts");
const PROJECT = join(FOLDER, "tsconfig.json");
const SOURCE = join(FOLDER, "unions.ts");
const SAMPLES = join(FOLDER, "sdk-parts.json");
const CLIENTS = ["openai", "@anthropic-ai/sdk", "@google/genai"];
/** Deeper levels say nothing about a part as a whole. */
const DEEPEST = 5;
/** Google's types in which every member is optional and exactly one is set: each member is a kind of its own. */
const HOLDERS = new Set(["GeminiParts", "GeminiTools", "GeminiResultParts"]);

type Sample = string | number | boolean | null | Sample[] | { [name: string]: Sample };

interface SdkParts {
  readonly versions: Readonly<Record<string, string>>;
  /** Samples by union and by the name of the member. */
  readonly unions: Readonly<Record<string, Readonly<Record<string, Sample>>>>;
}

/** Starts the compiler, which takes a second or two. */
function readSdkParts(): SdkParts {
  const api = new API({ cwd: ROOT });
  try {
    const project = api.updateSnapshot({ openProjects: [PROJECT] }).getProject(PROJECT);
    const file = project?.program.getSourceFile(SOURCE);
    const module = file && project?.checker.getSymbolAtLocation(file);
    if (!project || !module) throw new Error(`${SOURCE} cannot be read`);
    const { checker } = project;
    const unions = checker.getExportsOfModule(module).map((alias) => {
      const type = checker.getDeclaredTypeOfSymbol(alias);
      return [
        alias.name,
        HOLDERS.has(alias.name) ? buildKindSamples(type, checker) : buildMemberSamples(type, checker),
      ] as const;
    });
    return {
      versions: Object.fromEntries(CLIENTS.map((name) => [name, readVersion(name)])),
      unions: Object.fromEntries(unions),
    };
  } finally {
    api.close();
  }
}

function readVersion(name: string): string {
  const file = readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8");
  return (JSON.parse(file) as { version: string }).version;
}

/** Returns a sample of every object in a union; the same type in two generations of a client counts once. */
function buildMemberSamples(type: Type, checker: Checker): Record<string, Sample> {
  const samples = new Map<string, Sample>();
  for (const member of type.isUnionType() ? type.getTypes() : [type]) {
    if (!(member.flags & TypeFlags.Object)) continue;
    const sample = buildSample(member, checker, { name: "", depth: 0, isWhole: false });
    const name = readSampleName(sample);
    if (!samples.has(name)) samples.set(name, sample);
  }
  return sorted(samples);
}

/** Returns the literal that distinguishes a member of a union from the others. */
function readSampleName(sample: Sample): string {
  const members = typeof sample === "object" && sample !== null && !Array.isArray(sample) ? sample : {};
  for (const name of ["type", "role"]) {
    const value = members[name];
    if (typeof value === "string") return value;
  }
  return Object.keys(members).join(" ");
}

function buildKindSamples(type: Type, checker: Checker): Record<string, Sample> {
  const samples = new Map<string, Sample>();
  for (const member of checker.getPropertiesOfType(type)) {
    const value = checker.getTypeOfSymbol(member);
    if (value === undefined) continue;
    samples.set(member.name, {
      [member.name]: buildSample(value, checker, { name: member.name, depth: 1, isWhole: true }),
    });
  }
  return sorted(samples);
}

function sorted(samples: ReadonlyMap<string, Sample>): Record<string, Sample> {
  return Object.fromEntries([...samples].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

interface Place {
  readonly name: string;
  readonly depth: number;
  /** True if the sample also contains optional members. */
  readonly isWhole: boolean;
}

/** Returns the smallest value of a type: the first of several, one item of a list, and no optional member. */
function buildSample(type: Type, checker: Checker, place: Place): Sample {
  if (type.isStringLiteralType() || type.isNumberLiteralType() || type.isBooleanLiteralType()) return type.value;
  if (type.isUnionType()) return buildSample(selectBestType(type.getTypes()), checker, place);
  if (type.flags & TypeFlags.Null) return null;
  if (type.flags & TypeFlags.BooleanLike) return true;
  if (type.flags & TypeFlags.NumberLike) return 1;
  if (type.flags & TypeFlags.Object) return buildObjectSample(type, checker, place);
  return type.flags & TypeFlags.AnyOrUnknown ? { any: "any" } : place.name;
}

/** Prefers lists and objects to texts, and texts to literals, because there is more to lose in them. */
function selectBestType(types: readonly Type[]): Type {
  const rank = (type: Type) =>
    type.flags & TypeFlags.Object ? 0 : type.flags & (TypeFlags.Undefined | TypeFlags.Null) ? 2 : 1;
  const [best] = types.toSorted((a, b) => rank(a) - rank(b));
  if (!best) throw new Error("a union without members");
  return best;
}

function buildObjectSample(type: Type, checker: Checker, place: Place): Sample {
  if (checker.isArrayLikeType(type)) {
    const [item] = type.isTypeReference() ? checker.getTypeArguments(type) : [];
    return item === undefined || place.depth > DEEPEST
      ? []
      : [buildSample(item, checker, { ...place, depth: place.depth + 1 })];
  }
  const members: Record<string, Sample> = {};
  const known = checker.getPropertiesOfType(type);
  for (const member of place.depth > DEEPEST ? [] : known) {
    const value = checker.getTypeOfSymbol(member);
    const isOptional = (member.flags & SymbolFlags.Optional) !== 0;
    if (value === undefined || (isOptional && !place.isWhole) || member.flags & SymbolFlags.Method) continue;
    members[member.name] = buildSample(value, checker, { ...place, name: member.name, depth: place.depth + 1 });
  }
  return known.length === 0 ? { any: "any" } : members;
}

const found = `${JSON.stringify(readSdkParts(), null, 2)}\n`;
if (!process.argv.includes("--check")) writeFileSync(SAMPLES, found);
else if (readFileSync(SAMPLES, "utf8") !== found) {
  console.error("The clients' types hold other kinds: npm run sdk-parts, and decide what becomes of the new ones.");
  process.exitCode = 1;
}
