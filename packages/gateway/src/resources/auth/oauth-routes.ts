import { timingSafeEqual } from "node:crypto";
import {
  oauthGithub,
  oauthState,
  oauthTelegram,
  oauthTelegramBind,
  oauthWechat,
  oauthWechatBind,
  type OptionValues,
} from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import type { Codes } from "../../identity/second-factor/verification-codes.ts";
import type { Credentials } from "../../identity/passwords/credentials.ts";
import { readGithubProfile, type GithubDeps } from "../../identity/oauth/github.ts";
import { readTelegramLogin, type TelegramLogin } from "../../identity/oauth/telegram.ts";
import { readWechatId } from "../../identity/oauth/wechat.ts";
import { requireProof } from "../../identity/principal.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { withDefaults } from "../../lib/defaults.ts";
import { randomText } from "../../lib/ids.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { OauthProof } from "../../identity/oauth/pkce.ts";
import type { SessionData } from "../../identity/sessions/sessions.ts";
import type { Exchange } from "./sign-in.ts";
import { bindIdentity, enter, findByIdentity, type BindingDeps } from "./bindings.ts";

export interface OauthRoutesDeps extends BindingDeps, Omit<GithubDeps, "options"> {
  readonly credentials: Credentials;
  readonly codes: Codes;
  readonly options: () => OptionValues;
  readonly clock: Clock;
}

const STATE_CHARS = 32;
const STATE_SECONDS = 600;
const NO_STATE = { oauthState: "", oauthService: "", oauthVerifier: "", oauthNonce: "", oauthMaxAge: 0 };
const AFTER_BINDING = "/setting";

export function oauthRoutes(deps: OauthRoutesDeps): Route[] {
  const { options, clock } = deps;
  return [
    implement(oauthState, (call) => rememberState(deps, call, { ...NO_STATE, aff: call.query.aff })),
    implement(oauthGithub, (call) => github(deps, call)),
    implement(oauthWechat, async (call) => {
      const id = await wechatId(deps, call.query.code);
      return enter(deps, call, { column: "wechat_id", value: id, prefix: "wechat", displayName: "WeChat User" });
    }),
    implement(oauthWechatBind, async (call) => {
      const id = await wechatId(deps, call.query.code);
      await bindIdentity(deps, call, { column: "wechat_id", value: id, provider: "WeChat" });
    }),
    implement(oauthTelegram, async (call) => {
      const login = telegramLogin(options(), call.query, seconds(clock));
      if (!(await deps.codes.claim("telegram", login.hash, login.expiresAt)))
        throw new Refusal("telegram_authorization_invalid");
      if (!(await findByIdentity(deps, "telegram_id", login.id))) throw new Refusal("telegram_account_not_bound");
      return enter(deps, call, { column: "telegram_id", value: login.id, prefix: "telegram", displayName: "" });
    }),
    implement(oauthTelegramBind, async (call) => {
      const { query, request, response } = call;
      const login = telegramLogin(options(), query, seconds(clock));
      await bindIdentity(deps, call, { column: "telegram_id", value: login.id, provider: "Telegram" });
      if (String(request.headers.accept ?? "").includes("text/html")) {
        response.writeHead(302, { Location: AFTER_BINDING }).end();
      }
    }),
  ];
}

/** Creates a state for the browser and stores what belongs to it. */
export async function rememberState(
  { credentials, clock }: OauthRoutesDeps,
  { request, response, context }: Exchange,
  data: SessionData,
): Promise<string> {
  const oauthState = randomText(STATE_CHARS);
  await credentials.remember(request, response, { ...data, oauthState, oauthStateAt: seconds(clock) }, context);
  return oauthState;
}

async function github(deps: OauthRoutesDeps, call: Call<typeof oauthGithub>) {
  const { query, caller } = call;
  // This comes before the state is used up, so that the same call can be repeated after a confirmation.
  if (caller?.via === "session") requireProof(caller);
  const { aff, proof } = await takeState(deps, call, "github");
  if (!deps.options().GitHubOAuthEnabled)
    throw new Refusal("oauth_provider_disabled", { values: { provider: "GitHub" } });
  requireCode(query, "GitHub");
  const profile = await readGithubProfile(deps, query.code, proof);
  const identity = { column: "github_uid", value: profile.uid, more: { github_id: profile.login } } as const;
  if (caller?.via === "session") {
    await bindIdentity(deps, { caller, context: call.context }, { ...identity, provider: "GitHub" });
    call.message("bind");
    return undefined;
  }
  const displayName = profile.name === "" ? "GitHub User" : profile.name;
  return enter(deps, call, { ...identity, prefix: "github", displayName, email: profile.email, affCode: aff });
}

type ServiceAnswer = Pick<Call<typeof oauthGithub>["query"], "code" | "error" | "error_description">;

interface Taken {
  /** Invitation code that was stored with the state. */
  readonly aff: string;
  readonly proof: OauthProof;
  /** Longest time since the person's proof at the provider that was asked for; 0 = any. */
  readonly maxAgeSeconds: number;
}

/** Takes the state: any attempt uses it up, and it is valid only for the service that it was created for. */
export async function takeState(
  { credentials, clock }: OauthRoutesDeps,
  call: Exchange & { readonly query: { readonly state: string } },
  service: string,
): Promise<Taken> {
  const { request, response, context, query } = call;
  const session = await credentials.session(request);
  const state = withDefaults({ ...NO_STATE, oauthStateAt: 0, aff: "" }, session?.data ?? {});
  const { oauthState: expected, oauthService, aff } = state;
  if (expected !== "") await credentials.remember(request, response, NO_STATE, context);
  const isFresh = seconds(clock) - state.oauthStateAt <= STATE_SECONDS;
  const isMeant = oauthService === "" || oauthService === service;
  if (expected === "" || !isFresh || !isMeant || !isSame(expected, query.state))
    throw new Refusal("oauth_state_mismatch");
  return { aff, proof: { verifier: state.oauthVerifier, nonce: state.oauthNonce }, maxAgeSeconds: state.oauthMaxAge };
}

const MAX_REASON_CHARS = 300;
const NOT_PRINTABLE = /\p{C}+/gu;

/**
 * Throws `oauth_sign_in_refused` with the service's reason if it sent the browser back without a code. This comes after
 * the state, so that no link on another site puts words on the page.
 */
export function requireCode({ code, error, error_description }: ServiceAnswer, provider: string): void {
  if (code !== "") return;
  if (error === "") throw new Refusal("invalid_parameter", { field: "code" });
  const said = (error_description || error).replaceAll(NOT_PRINTABLE, " ").trim();
  throw new Refusal("oauth_sign_in_refused", { values: { provider, reason: said.slice(0, MAX_REASON_CHARS) } });
}

function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

async function wechatId(deps: OauthRoutesDeps, code: string): Promise<string> {
  if (!deps.options().WeChatAuthEnabled)
    throw new Refusal("oauth_provider_disabled", { values: { provider: "WeChat" } });
  if (code === "") throw new Refusal("invalid_parameter", { field: "code" });
  return readWechatId(deps, code);
}

function telegramLogin(
  options: OptionValues,
  query: Parameters<typeof readTelegramLogin>[0],
  now: number,
): TelegramLogin {
  if (!options.TelegramOAuthEnabled) throw new Refusal("oauth_provider_disabled", { values: { provider: "Telegram" } });
  const login = readTelegramLogin(query, options.TelegramBotToken, now);
  if (!login) throw new Refusal("telegram_authorization_invalid");
  return login;
}
