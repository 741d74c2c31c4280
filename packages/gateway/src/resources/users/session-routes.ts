import {
  accessTokenCreate,
  accessTokenDelete,
  accessTokenList,
  selfSessionEnd,
  selfSessions,
  selfSessionsEnd,
} from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { AccessTokens } from "../../identity/access-token.ts";
import type { Sessions } from "../../identity/sessions.ts";

/** Leading characters of the stored hash: enough to name a session, nothing to open one. */
const ID_CHARS = 16;

/** What a user can see and end of his own credentials. */
export function sessionRoutes({
  sessions,
  accessTokens,
}: {
  readonly sessions: Sessions;
  readonly accessTokens: AccessTokens;
}): Route[] {
  return [
    implement(selfSessions, async ({ caller }) =>
      (await sessions.list(caller.userId)).map((session) => ({
        id: session.hash.slice(0, ID_CHARS),
        is_current: session.hash === caller.sessionHash,
        ip: session.ip,
        user_agent: session.userAgent,
        created_at: session.createdAt,
        renewed_at: session.renewedAt,
      })),
    ),
    implement(selfSessionEnd, async ({ params, caller }) => {
      const session = (await sessions.list(caller.userId)).find(({ hash }) => hash.slice(0, ID_CHARS) === params.id);
      if (session) await sessions.end(session.hash);
    }),
    implement(selfSessionsEnd, ({ caller }) => sessions.endAll(caller.userId, caller.sessionHash)),
    implement(accessTokenList, async ({ caller }) =>
      (await accessTokens.list(caller.userId)).map((token) => ({
        name: token.name,
        created_at: token.createdAt,
        last_used_at: token.lastUsedAt,
        expires_at: token.expiresAt,
      })),
    ),
    implement(accessTokenCreate, ({ body, caller }) =>
      accessTokens.rotate(caller.userId, body.name.trim(), body.expires_at ?? 0),
    ),
    implement(accessTokenDelete, async ({ query, caller }) => {
      await accessTokens.remove(caller.userId, query.name);
    }),
  ];
}
