import type { OptionValues } from "@fairway/wire";
import { Refusal } from "../../lib/refusal.ts";
import type { Outbound } from "../../lib/net/outbound.ts";
import { buildChallenge, buildVerifier, withQuery, type OauthProof } from "./pkce.ts";

export interface GithubDeps {
  readonly outbound: Outbound;
  readonly options: () => Pick<OptionValues, "GitHubClientId" | "GitHubClientSecret">;
  readonly githubUrl: string;
  readonly githubApiUrl: string;
}

export interface GithubProfile {
  /** The identity: names can be changed and taken over, but this number cannot. */
  readonly uid: number;
  readonly login: string;
  readonly name: string;
  readonly email: string;
}

const provider = { provider: "GitHub" };

/** Returns the address for a sign-in by the browser. */
export function githubAddress({ options, githubUrl }: GithubDeps, state: string, proof: OauthProof): string {
  const query = { client_id: options().GitHubClientId, state, scope: "user:email", ...buildChallenge(proof) };
  return withQuery(`${githubUrl}/login/oauth/authorize`, query);
}

/** Exchanges a code for the profile of its owner; throws `oauth_provider_unreachable` and `oauth_answer_invalid`. */
export async function readGithubProfile(deps: GithubDeps, code: string, proof: OauthProof): Promise<GithubProfile> {
  const { GitHubClientId, GitHubClientSecret } = deps.options();
  const granted = await ask(deps, {
    method: "POST",
    url: `${deps.githubUrl}/login/oauth/access_token`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_id: GitHubClientId,
      client_secret: GitHubClientSecret,
      code,
      ...buildVerifier(proof),
    }),
  });
  const token = granted["access_token"];
  if (typeof token !== "string" || token === "") throw new Refusal("oauth_answer_invalid", { values: provider });
  const user = await ask(deps, {
    method: "GET",
    url: `${deps.githubApiUrl}/user`,
    headers: { authorization: `Bearer ${token}` },
  });
  const { id, login, name, email } = user;
  if (typeof id !== "number" || !Number.isSafeInteger(id) || typeof login !== "string" || login === "") {
    throw new Refusal("oauth_answer_invalid", { values: provider });
  }
  return { uid: id, login, name: typeof name === "string" ? name : "", email: typeof email === "string" ? email : "" };
}

async function ask(
  { outbound }: GithubDeps,
  call: Parameters<Outbound["json"]>[0],
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await outbound.json(call).catch((cause: unknown) => {
    throw new Refusal("oauth_provider_unreachable", { values: provider, cause });
  });
  if (!answer) throw new Refusal("oauth_answer_invalid", { values: provider });
  return answer;
}
