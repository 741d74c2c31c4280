import * as wire from "@fairway/wire";

const ENDPOINTS = Object.values<unknown>(wire).filter(
  (value): value is wire.Endpoint =>
    typeof value === "object" && value !== null && "access" in value && "method" in value,
);

/** Codes that every call may answer: of its access, its rate, its input, and of an empty part of its path. */
const OF_ALL: ReadonlySet<unknown> = new Set("AU1 AU2 AU3 AU4 AU5 AU6 AU7 AU8 G1 G2 G3 G6 G7 G8 G9 G10".split(" "));

/** Differences between an answer and its endpoint's contract: another shape of `data`, an undeclared refusal. */
export function brokenPromises(operationId: string, path: string, text: string): string[] {
  const named = ENDPOINTS.find(({ name }) => name === operationId);
  const answer = parseObject(text);
  if (!named || !answer) return [];
  const same = ENDPOINTS.filter((one) => one.method === named.method && one.path === named.path);
  return answer["success"] === false ? refusalFaults(same, answer) : shapeFaults(same, path, answer);
}

function refusalFaults(endpoints: readonly wire.Endpoint[], { code, message }: Record<string, unknown>): string[] {
  // Tests and balances of channels answer in the words of the upstream.
  const isUpstreams = code === undefined && endpoints.some(({ answer }) => answer === "raw");
  const isNamed =
    OF_ALL.has(code) || endpoints.some(({ fails }) => fails.some((key) => wire.MESSAGE_CODES[key] === code));
  return [...(isNamed || isUpstreams ? [] : [`unnamed ${String(code)}`]), ...(message === "" ? ["no message"] : [])];
}

/** A path whose last part came out empty is that of another call. */
function shapeFaults(endpoints: readonly wire.Endpoint[], path: string, answer: Record<string, unknown>): string[] {
  const [first] = endpoints;
  const isSamePath = first?.path.split("/").length === path.split("/").length && !path.includes("//");
  const isEmptied = first?.path.endsWith("}") && path.endsWith("/");
  if (first?.answer !== "envelope" || answer["success"] !== true || !isSamePath || isEmptied) return [];
  const fits = endpoints.some(({ data }) => (data ? data.safeParse(answer["data"]).success : !answer["data"]));
  return fits ? [] : [`another shape ${JSON.stringify(answer["data"]).slice(0, 200)}`];
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
