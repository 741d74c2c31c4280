import type { OptionValues } from "@fairway/wire";
import type { Env } from "../../config/env.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Secret } from "../../lib/secret.ts";
import type { Limiter } from "../../limits/limiter.ts";
import type { Database } from "../../storage/database.ts";
import { createAccessTokens, type AccessTokens } from "../keys/access-token.ts";
import { createCodes, type Codes } from "../second-factor/verification-codes.ts";
import { createCredentials, type Credentials } from "../passwords/credentials.ts";
import { createLoginGuard, type LoginGuard } from "../passwords/login-guard.ts";
import { createMailer, type Mailer } from "../mail/mailer.ts";
import type { Network } from "../../lib/net/network.ts";
import { createOutbound, type Outbound } from "../../lib/net/outbound.ts";
import { createPasswords, type Passwords } from "../passwords/passwords.ts";
import { createPasskeys, type Passkeys } from "../second-factor/passkeys.ts";
import { createDevices } from "../sessions/devices.ts";
import { recordNewDevice } from "../sessions/new-device.ts";
import { createSessions, type Sessions } from "../sessions/sessions.ts";
import { recordEvent } from "../../events/record-event.ts";
import { createEnforcement, type Enforcement } from "../providers/enforcement.ts";
import { createProviderStore, type ProviderStore } from "../providers/store.ts";
import { createTwoFactor, type TwoFactor, type TwoFactorDeps } from "../second-factor/two-factor.ts";
import { createHumanCheck, type HumanCheck } from "../second-factor/turnstile.ts";

/** The services that identify callers. */
export interface Identity {
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly accessTokens: AccessTokens;
  readonly credentials: Credentials;
  readonly codes: Codes;
  readonly guard: LoginGuard;
  readonly twoFactor: TwoFactor;
  readonly passkeys: Passkeys;
  readonly mailer: Mailer;
  readonly humanCheck: HumanCheck;
  /** Makes calls to the services below; closed when the server stops. */
  readonly outbound: Outbound;
  readonly services: SignInServices;
  /** Identity providers of companies. */
  readonly providers: ProviderStore;
  readonly enforcement: Enforcement;
}

/** Addresses of the services that people sign in with. */
export type SignInServices = Pick<Env, "githubUrl" | "githubApiUrl" | "linuxdoUrl" | "turnstileUrl">;

export interface IdentityDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly limiter: Limiter;
  readonly options: () => OptionValues;
  readonly sessionSecret: Secret;
  readonly vault: TwoFactorDeps["vault"];
  readonly services: SignInServices;
  readonly network: Network;
  readonly passwords?: Passwords;
  /** Every session ends this many days after its sign-in. */
  readonly sessionMaxDays?: number | undefined;
}

export function createIdentity(deps: IdentityDeps): Identity {
  const { database, clock, limiter, options, sessionSecret, services } = deps;
  const { db } = database;
  const sessions = createSessions({ db, clock, maxDays: deps.sessionMaxDays });
  const accessTokens = createAccessTokens({ db, clock });
  const devices = createDevices({ secret: sessionSecret, clock });
  const credentials = createCredentials({
    sessions,
    accessTokens,
    devices,
    clock,
    onNewDevice: (session) => recordNewDevice(db, clock, session),
  });
  const outbound = createOutbound(deps.network);
  const guard = createLoginGuard(limiter);
  const providers = createProviderStore({ db, clock, vault: deps.vault });
  const systemName = () => options().SystemName;
  return {
    passwords: deps.passwords ?? createPasswords(),
    sessions,
    accessTokens,
    credentials,
    outbound,
    services,
    providers,
    enforcement: createEnforcement({
      db,
      providers,
      onExempt: (user, provider) =>
        recordEvent(db, {
          type: "identity.breakglass",
          atMs: clock.now(),
          dedupKey: `identity.breakglass:${user.id}:${clock.now()}`,
          data: { username: user.username, provider },
        }),
    }),
    humanCheck: createHumanCheck({ credentials, outbound, options, clock, turnstileUrl: services.turnstileUrl }),
    codes: createCodes({ db, clock, limiter, secret: sessionSecret }),
    guard,
    twoFactor: createTwoFactor({ ...deps, db, guard, issuer: systemName }),
    passkeys: createPasskeys({ db, clock, name: systemName }),
    mailer: createMailer(options),
  };
}
