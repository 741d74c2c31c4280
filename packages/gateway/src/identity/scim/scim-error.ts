const ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error";

export type ScimType = "invalidFilter" | "invalidPath" | "invalidValue" | "invalidSyntax" | "mutability" | "uniqueness";

/** A refusal in the form of RFC 7644, section 3.12. */
export class ScimError extends Error {
  override readonly name = "ScimError";
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, detail: string, more: { scimType?: ScimType; retryAfterSeconds?: number } = {}) {
    super(detail);
    this.status = status;
    this.scimType = more.scimType;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }

  toBody(): Readonly<Record<string, unknown>> {
    return {
      schemas: [ERROR_SCHEMA],
      status: String(this.status),
      ...(this.scimType !== undefined && { scimType: this.scimType }),
      detail: this.message,
    };
  }
}

/** Returns a 400 of one of the kinds that clients tell apart. */
export function badRequest(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, detail, { scimType });
}
