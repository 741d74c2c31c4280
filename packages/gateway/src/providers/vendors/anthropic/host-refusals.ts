// Messages in which a host refuses a name, in the forms that were seen.
import { BETA_HEADER } from "./host-filter.ts";

const BETA = [
  /Unexpected value\(s\) ((?:`[^`]+`(?:, ?)?)+) for the `anthropic-beta` header/,
  /Unsupported beta header: (\S+)/,
];
const ANY_BETA = /invalid beta flag/;
const MEMBER = /(?:^|[\s"':])([a-z_]\w*(?:\.\w+)*): Extra inputs are not permitted/g;
const TOOL = /unknown variant `([^`]+)`/;

/** Members that a request cannot do without. */
const NEEDED =
  /^(?:model|messages|system|max_tokens|stream|thinking|tools|tool_choice|tools\[\]\.(?:name|description|input_schema|type))$/;

/** Returns the names that an answer of status 400 refuses, as `filteredFor` reads them; `betas` are the sent ones. */
export function refusedNames(message: string, betas: readonly string[]): string[] {
  const named = BETA.map((pattern) => pattern.exec(message)?.[1]).find((found) => found !== undefined);
  if (named !== undefined) return betaNames(named.replaceAll("`", "").split(/, ?/));
  if (ANY_BETA.test(message)) return betaNames(betas);
  const tool = TOOL.exec(message)?.[1];
  if (tool !== undefined) return [`tools:${tool}`];
  return [...message.matchAll(MEMBER)]
    .flatMap(([, path = ""]) => parseMember(path))
    .filter((path) => !NEEDED.test(path));
}

function betaNames(names: readonly string[]): string[] {
  return names.filter((name) => name !== "").map((name) => `${BETA_HEADER}:${name}`);
}

/** Returns the path without numbers and types, up to the member that can be left out. */
function parseMember(path: string): string[] {
  if (/(?:^|\.)cache_control\.(?:\w+\.)?scope$/.test(path)) return ["cache_control.scope"];
  const ofTool = /^tools\.\d+\.(?:[a-z]\w*\.)?(\w+)$/.exec(path)?.[1];
  if (ofTool !== undefined) return [`tools[].${ofTool}`];
  return path.includes(".") ? [] : [path];
}
