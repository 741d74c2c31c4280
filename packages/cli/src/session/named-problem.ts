import { ApiProblem, type Client } from "@fairway/wire";

interface Input {
  readonly params?: unknown;
  readonly body?: unknown;
}

/** Makes refusals name the id that was asked for: of several ids, the sentence of the gateway fits each. */
export function createNamingClient(client: Client): Client {
  return {
    async call(endpoint, input) {
      try {
        return await client.call(endpoint, input);
      } catch (problem) {
        throw withSubject(problem, input);
      }
    },
  };
}

/** Says in `Channel does not exist.` which one, also where a compatible gateway says it in its own words. */
export function withSubject(problem: unknown, input: Input): unknown {
  const subject = findSubject(input);
  if (!(problem instanceof ApiProblem) || problem.status === 0 || subject === undefined) return problem;
  const message = nameSubject(problem.message, subject);
  if (message === problem.message) return problem;
  const { status, code, field, siblings, retryAfterSeconds, cause } = problem;
  const retryAfter = retryAfterSeconds === undefined ? null : String(retryAfterSeconds);
  return new ApiProblem(message, { status, code, field, siblings, retryAfter, cause });
}

const OWN = / (does not exist|has been deleted)\b/;
const ABSENT = /not found|not exist|deleted|不存在/i;

function nameSubject(message: string, subject: string): string {
  if (!ABSENT.test(message) || message.includes(subject)) return message;
  return OWN.test(message) ? message.replace(OWN, ` ${subject} $1`) : `${message} (${subject})`;
}

/** Returns the id in the path or the body of a call. */
function findSubject({ params, body }: Input): string | undefined {
  const places = listMembers(params);
  const id = new Map([...listMembers(body), ...places]).get("id") ?? places.at(-1)?.[1];
  return typeof id === "number" || typeof id === "string" ? String(id) : undefined;
}

function listMembers(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}
