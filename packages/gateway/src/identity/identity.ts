import type { OptionValues } from "@fairway/wire";
import type { Clock } from "../lib/clock.ts";
import type { Secret } from "../lib/secret.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Database } from "../storage/database.ts";
import { createAccessTokens, type AccessTokens } from "./access-token.ts";
import { createCodes, type Codes } from "./codes.ts";
import { createCredentials, type Credentials } from "./credentials.ts";
import { createLoginGuard, type LoginGuard } from "./login-guard.ts";
import { createMailer, type Mailer } from "./mail.ts";
import { createPasswords, type Passwords } from "./passwords.ts";
import { createSessions, type Sessions } from "./sessions.ts";

/** Everything that knows who somebody is. */
export interface Identity {
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly accessTokens: AccessTokens;
  readonly credentials: Credentials;
  readonly codes: Codes;
  readonly guard: LoginGuard;
  readonly mailer: Mailer;
}

export interface IdentityDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly limiter: Limiter;
  readonly options: () => OptionValues;
  readonly sessionSecret: Secret;
  readonly passwords?: Passwords;
}

export function createIdentity({
  database,
  clock,
  limiter,
  options,
  sessionSecret,
  passwords,
}: IdentityDeps): Identity {
  const { db } = database;
  const sessions = createSessions({ db, clock });
  const accessTokens = createAccessTokens({ db, clock });
  return {
    passwords: passwords ?? createPasswords(),
    sessions,
    accessTokens,
    credentials: createCredentials({ sessions, accessTokens }),
    codes: createCodes({ db, clock, secret: sessionSecret }),
    guard: createLoginGuard(limiter),
    mailer: createMailer(options),
  };
}
