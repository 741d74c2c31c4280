import { isoCBOR } from "@simplewebauthn/server/helpers";
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

export interface PasskeySettings {
  /** Where the page says it is. */
  readonly origin: string;
  /** False: the device did not verify its user. */
  readonly isVerified?: boolean;
}

const PRESENT = 0x01;
const VERIFIED = 0x04;
const WITH_CREDENTIAL = 0x40;

/** A passkey in software (ES256, no attestation), as a browser would answer for it. */
export class SoftwareAuthenticator {
  readonly id = randomBytes(32).toString("base64url");
  readonly #keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  #counter = 0;

  constructor() {
    this.#keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  }

  create(options: CreationOptions, settings: PasskeySettings): Record<string, unknown> {
    const id = Buffer.from(this.id, "base64url");
    const credential = Buffer.concat([Buffer.alloc(16), uint(id.length, 2), id, this.#coseKey()]);
    const authData = Buffer.concat([this.#head(options.rp.id, settings, WITH_CREDENTIAL), credential]);
    const attestation = new Map<string, unknown>([
      ["fmt", "none"],
      ["attStmt", new Map()],
      ["authData", new Uint8Array(authData)],
    ]);
    return this.#answer({
      clientDataJSON: clientData("webauthn.create", options.challenge, settings.origin),
      attestationObject: text(isoCBOR.encode(attestation as never)),
      transports: ["internal"],
    });
  }

  get({ challenge, rpId }: RequestOptions, settings: PasskeySettings): Record<string, unknown> {
    const authenticatorData = this.#head(rpId, settings, 0);
    const clientDataJSON = clientData("webauthn.get", challenge, settings.origin);
    const hash = createHash("sha256").update(Buffer.from(clientDataJSON, "base64url")).digest();
    const signature = sign("sha256", Buffer.concat([authenticatorData, hash]), this.#keys.privateKey);
    return this.#answer({ clientDataJSON, authenticatorData: text(authenticatorData), signature: text(signature) });
  }

  #head(rpId: string, { isVerified = true }: PasskeySettings, flags: number): Buffer {
    this.#counter += 1;
    const hash = createHash("sha256").update(rpId).digest();
    const all = flags | PRESENT | (isVerified ? VERIFIED : 0);
    return Buffer.concat([hash, Buffer.from([all]), uint(this.#counter, 4)]);
  }

  #coseKey(): Buffer {
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const point = (part: string) => new Uint8Array(Buffer.from(part, "base64url"));
    const key = new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, point(x)],
      [-3, point(y)],
    ]);
    return Buffer.from(isoCBOR.encode(key as never));
  }

  #answer(response: Record<string, unknown>): Record<string, unknown> {
    return { id: this.id, rawId: this.id, type: "public-key", clientExtensionResults: {}, response };
  }
}

function clientData(type: string, challenge: string, origin: string): string {
  return text(Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })));
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}
