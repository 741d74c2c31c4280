import {
  accessTokenCreate,
  accessTokenDelete,
  accessTokenList,
  PAGE_SIZE_CAP,
  resolvePage,
  selfSessionEnd,
  selfSessions,
  selfSessionsEnd,
} from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { CredentialNotices } from "../../identity/mail/credential-notices.ts";
import type { AccessTokens } from "../../identity/keys/access-token.ts";
import { requireSession } from "../../identity/principal.ts";
import type { Sessions } from "../../identity/sessions/sessions.ts";

/** Number of leading characters of the stored hash: enough to identify a session, but not to use it. */
const ID_CHARS = 16;

/** Creates the routes with which users list and end their own sessions and credentials. */
export function sessionRoutes({
  sessions,
  accessTokens,
  notices,
}: {
  readonly sessions: Sessions;
  readonly accessTokens: AccessTokens;
  readonly notices: CredentialNotices;
}): Route[] {
  return [
    implement(selfSessions, async ({ query, caller, setTotal }) => {
      const page_size = query.page_size > 0 ? query.page_size : PAGE_SIZE_CAP;
      const { rows, total } = await sessions.list(caller.userId, resolvePage({ p: query.p, page_size }));
      setTotal(total);
      return rows.map((session) => ({
        id: session.hash.slice(0, ID_CHARS),
        is_current: session.hash === caller.sessionHash,
        ip: session.ip,
        user_agent: session.userAgent,
        created_at: session.createdAt,
        renewed_at: session.renewedAt,
      }));
    }),
    implement(selfSessionEnd, ({ params, caller }) => sessions.endOne(caller.userId, params.id)),
    implement(selfSessionsEnd, ({ caller }) => sessions.endAll(caller.userId, caller.sessionHash)),
    implement(accessTokenList, async ({ caller }) =>
      (await accessTokens.list(caller.userId)).map((token) => ({
        name: token.name,
        created_at: token.createdAt,
        last_used_at: token.lastUsedAt,
        expires_at: token.expiresAt,
        scopes: [...token.scopes],
      })),
    ),
    implement(accessTokenCreate, async ({ body, caller, context: { ip } }) => {
      const { expires_at: expiresAt = 0, scopes } = body;
      const name = body.name.trim();
      const { userId } = caller;
      const made = { name, expiresAt, scopes: [...new Set(scopes)] };
      const token = await accessTokens.rotate(userId, made, (trx) =>
        notices.record(trx, { userId, kind: "access_token_made", ip }),
      );
      notices.send({ userId, what: `The access token "${name}" was made.`, ip });
      return token;
    }),
    implement(accessTokenDelete, async ({ query, caller }) => {
      // A token can end itself, as the command line does when it signs out.
      if (caller.token?.name !== query.name) requireSession(caller);
      await accessTokens.remove(caller.userId, query.name);
    }),
  ];
}
