import { createHash } from "node:crypto";

const MAX_TOKENS = 2000;

export interface FreshToken {
  readonly token: string;
  readonly lifeMs: number;
}

/**
 * Access tokens by the secret that they were exchanged for: one exchange at a time, renewed early, forgotten on demand.
 */
export interface TokenCache {
  get(secret: string, now: number, exchange: () => Promise<FreshToken>): Promise<string>;
  drop(secret: string): void;
}

/** @param earlyMs how long before its expiry a token counts as expired, in milliseconds */
export function createTokenCache(earlyMs: number): TokenCache {
  const known = new Map<string, { readonly token: string; readonly until: number }>();
  const running = new Map<string, Promise<string>>();
  const hashSecret = (secret: string) => createHash("sha256").update(secret).digest("base64");

  async function renew(name: string, now: number, exchange: () => Promise<FreshToken>): Promise<string> {
    const { token, lifeMs } = await exchange();
    const oldest = known.size >= MAX_TOKENS ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    known.set(name, { token, until: now + Math.max(lifeMs - earlyMs, lifeMs / 2) });
    return token;
  }

  return {
    get(secret, now, exchange) {
      const name = hashSecret(secret);
      const found = known.get(name);
      if (found && found.until > now) return Promise.resolve(found.token);
      const pending = running.get(name) ?? renew(name, now, exchange).finally(() => running.delete(name));
      running.set(name, pending);
      return pending;
    },
    drop: (secret) => void known.delete(hashSecret(secret)),
  };
}
