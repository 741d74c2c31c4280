import {
  accessTokenCreate,
  accessTokenDelete,
  accessTokenList,
  bindEmail,
  oauthWechatBind,
  optionBatch,
  optionHistory,
  optionList,
  optionPrices,
  optionReset,
  passkeyCreate,
  passkeyDelete,
  passkeyList,
  passkeyOptions,
  passkeyRename,
  selfAccessToken,
  selfSessionEnd,
  selfSessions,
  selfSessionsEnd,
  selfUpdate,
  twoFactorBegin,
  twoFactorCodes,
  twoFactorConfirm,
  twoFactorDisable,
  twoFactorGet,
  type AccessScope,
  type PriceOption,
  type PriceTexts,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call, request } from "../../lib/http.ts";
import { nowSeconds } from "../../lib/now.ts";
import { makePasskey } from "../../lib/passkeys.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";

export const optionsQuery = queryOptions({
  queryKey: queryKeys.options.list,
  queryFn: async ({ signal }): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries((await call(optionList, { signal })).map(({ key, value }) => [key, value])),
});

/**
 * Saves all of them or none. Prices, groups, models, texts and the status depend on options, so everything is reloaded.
 */
export async function saveOptions(changes: Readonly<Record<string, string>>, ifMatch?: string): Promise<void> {
  await call(optionBatch, { body: Object.entries(changes).map(([key, value]) => ({ key, value })), ifMatch });
  await queryClient.invalidateQueries();
}

/** The charged prices, and the options behind them. */
export const pricesQuery = queryOptions({
  queryKey: queryKeys.options.prices,
  queryFn: async ({ signal }) => {
    const [prices, { texts }] = await Promise.all([call(optionPrices, { signal }), readPriceTexts(signal)]);
    return { prices, texts };
  },
});

/** What is charged for each model, and whether an enabled channel has it. */
export const servedQuery = queryOptions({
  queryKey: queryKeys.options.served,
  queryFn: ({ signal }) => call(optionPrices, { signal }),
});

/** Reads the current price options, and the tag of that version. */
export async function readPriceTexts(signal?: AbortSignal): Promise<{ texts: PriceTexts; tag: string | undefined }> {
  const { data, tag } = await request(optionList, { signal });
  const listed = new Map(data.map(({ key, value }) => [key, value]));
  const text = (key: PriceOption) => listed.get(key) ?? "{}";
  const texts = {
    ModelPrice: text("ModelPrice"),
    ModelRatio: text("ModelRatio"),
    CompletionRatio: text("CompletionRatio"),
    CacheRatio: text("CacheRatio"),
  };
  return { texts, tag };
}

/** How many changes are shown; the audit log has the rest. */
export const HISTORY_ROWS = 20;

export function historyQuery(key: string) {
  return queryOptions({
    queryKey: queryKeys.options.history(key),
    queryFn: async ({ signal }) => {
      const { data, total } = await request(optionHistory, { query: { key, page_size: HISTORY_ROWS }, signal });
      return { changes: data, total: total ?? data.length };
    },
  });
}

export async function resetRatios(): Promise<void> {
  await call(optionReset, {});
  await queryClient.invalidateQueries();
}

function refreshSelf(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.self.all });
}

export async function saveProfile(profile: { username: string; display_name: string }): Promise<void> {
  await call(selfUpdate, { body: profile });
  await refreshSelf();
}

export async function bindAddress(email: string, code: string): Promise<void> {
  await call(bindEmail, { query: { email, code } });
  await refreshSelf();
}

export async function bindWechat(code: string): Promise<void> {
  await call(oauthWechatBind, { query: { code } });
  await refreshSelf();
}

export async function changePassword(password: string): Promise<void> {
  await call(selfUpdate, { body: { password } });
}

export const accessTokensQuery = queryOptions({
  queryKey: queryKeys.self.accessTokens,
  queryFn: ({ signal }) => call(accessTokenList, { signal }),
});

function refreshTokens(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.self.accessTokens });
}

/** The token is shown only once, so this waits for no other answer. */
export async function makeAccessToken(): Promise<string> {
  const token = await call(selfAccessToken, {});
  void refreshTokens();
  return token;
}

/** `days` 0 = no expiry. */
export async function makeNamedToken(wanted: {
  readonly name: string;
  readonly days: number;
  readonly scopes: readonly string[];
}): Promise<string> {
  const { name, days } = wanted;
  const expires_at = days === 0 ? 0 : nowSeconds() + days * 86_400;
  // The server checks the input and names the valid values.
  const scopes = wanted.scopes as AccessScope[];
  const token = await call(accessTokenCreate, { body: { name, expires_at, scopes } });
  void refreshTokens();
  return token;
}

export async function removeAccessToken(name: string): Promise<void> {
  await call(accessTokenDelete, { query: { name } });
  await refreshTokens();
}

export const sessionsQuery = queryOptions({
  queryKey: queryKeys.self.sessions,
  queryFn: ({ signal }) => call(selfSessions, { signal }),
});

export async function endSession(id: string): Promise<void> {
  await call(selfSessionEnd, { params: { id } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.self.sessions });
}

export async function endOtherSessions(): Promise<void> {
  await call(selfSessionsEnd, {});
  await queryClient.invalidateQueries({ queryKey: queryKeys.self.sessions });
}

export const twoFactorQuery = queryOptions({
  queryKey: queryKeys.self.twoFactor,
  queryFn: ({ signal }) => call(twoFactorGet, { signal }),
});

export interface NewSecret {
  /** Base32, to type in. */
  readonly secret: string;
  /** The URL in the QR code. */
  readonly url: string;
}

/** Creates a secret that has no effect until it is confirmed. */
export function beginTwoFactor(): Promise<NewSecret> {
  return call(twoFactorBegin, {});
}

function refreshTwoFactor(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.self.twoFactor });
}

/** Switches it on; resolves to the recovery codes. They are shown only once, so this waits for no other answer. */
export async function confirmTwoFactor(code: string): Promise<readonly string[]> {
  const { recovery_codes: codes } = await call(twoFactorConfirm, { body: { code } });
  void refreshTwoFactor();
  return codes;
}

export async function replaceRecoveryCodes(code: string): Promise<readonly string[]> {
  const { recovery_codes: codes } = await call(twoFactorCodes, { body: { code } });
  void refreshTwoFactor();
  return codes;
}

export async function disableTwoFactor(code: string): Promise<void> {
  await call(twoFactorDisable, { body: { code } });
  await refreshTwoFactor();
}

export const passkeysQuery = queryOptions({
  queryKey: queryKeys.self.passkeys,
  queryFn: ({ signal }) => call(passkeyList, { signal }),
});

/** Lets the browser create a passkey and registers it; rejects if the user cancels. */
export async function addPasskey(name: string): Promise<void> {
  const response = await makePasskey(await call(passkeyOptions, {}));
  await call(passkeyCreate, { body: { name, response } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.self.passkeys });
}

export async function renamePasskey(id: number, name: string): Promise<void> {
  await call(passkeyRename, { params: { id }, body: { name } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.self.passkeys });
}

export async function removePasskey(id: number): Promise<void> {
  await call(passkeyDelete, { params: { id } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.self.passkeys });
}
