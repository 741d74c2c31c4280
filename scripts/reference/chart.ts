import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isScalar, parseDocument, type Pair, type YAMLMap } from "yaml";
import { ROOT } from "../bootstrap.mjs";
import { code, groupBy, table } from "./markdown.ts";

interface Value {
  readonly path: string;
  readonly about: string;
  readonly fallback: unknown;
}

const SOURCE = "charts/fairway/values.yaml";
const MARK = /^ ?-- ?/;

/** Returns the README of the chart; its table comes from values.yaml. */
export function chartReadme(): string {
  const { version, appVersion, kubeVersion, description } = parseDocument(
    readFileSync(join(ROOT, "charts/fairway/Chart.yaml"), "utf8"),
  ).toJS() as Record<string, string>;
  const groups = groupBy(values(), ({ path }) =>
    path.includes(".") ? (path.split(".", 1)[0] ?? "") : "Release and pods",
  );
  return `${[
    "# Fairway",
    `Generated from \`${SOURCE}\` by \`npm run docs\`; do not edit.`,
    description,
    `Chart ${version}, program ${appVersion}, Kubernetes ${kubeVersion?.replace("-0", "")}; Helm 3.18 or newer, Helm 4 included.`,
    "```sh\nhelm upgrade --install fairway charts/fairway --namespace models --create-namespace -f values.yaml\n```",
    "More: [start on Kubernetes](../../docs/start/kubernetes.md), [operate on Kubernetes](../../docs/operate/kubernetes.md), [what was tested on real nodes](../../docs/operate/cluster-test.md). The chart refuses values that cannot work, names the field and says how to correct it. It also refuses unknown names.",
    "## Values",
    ...groups.map(
      ([group, members]) => `### ${group}\n\n${table(["Value", "Default", "What it does"], members.map(row))}`,
    ),
  ].join("\n\n")}\n`;
}

function row({ path, about, fallback }: Value): string[] {
  return [code(path), code(JSON.stringify(fallback)), about];
}

function values(): Value[] {
  const document = parseDocument(readFileSync(join(ROOT, SOURCE), "utf8"));
  const { contents } = document;
  if (!isMap(contents)) throw new Error(`${SOURCE} holds no values`);
  return below(contents, "", document.commentBefore ?? undefined);
}

/** A map is one row if none of its members has a comment of its own. */
function below(map: YAMLMap, prefix: string, first: string | null | undefined): Value[] {
  return map.items.flatMap((pair, index) => {
    const { key, value } = pair as Pair;
    if (!isScalar(key)) return [];
    const path = prefix === "" ? String(key.value) : `${prefix}.${String(key.value)}`;
    // The parser assigns the comment of a map's first member to the map.
    const comment = parseComment(key.commentBefore ?? (index === 0 ? (map.commentBefore ?? first) : undefined));
    if (isMap(value) && value.items.length > 0 && (comment === "" || hasComments(value)))
      return below(value, path, undefined);
    return [{ path, about: comment, fallback: plain(value) }];
  });
}

function hasComments(map: YAMLMap): boolean {
  const isCommented = ({ key, value }: Pair) =>
    (isScalar(key) && Boolean(key.commentBefore)) || (isMap(value) && hasComments(value));
  return Boolean(map.commentBefore) || map.items.some((pair) => isCommented(pair as Pair));
}

function plain(value: unknown): unknown {
  const node = value as { toJSON?(): unknown } | null;
  return node?.toJSON?.() ?? null;
}

/** Only comments that begin with `--` belong in the table. */
function parseComment(comment: string | null | undefined): string {
  if (!comment) return "";
  const lines = comment.split("\n");
  const start = lines.findIndex((line) => MARK.test(line));
  return start === -1
    ? ""
    : lines
        .slice(start)
        .map((line) => line.replace(MARK, "").trim())
        .join(" ");
}
