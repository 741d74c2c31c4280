import { AwsV4Signer } from "aws4fetch";
import type { UpstreamCall } from "../../core/types.ts";

export interface Credentials {
  readonly id: string;
  readonly secret: string;
  readonly session?: string | undefined;
  readonly region: string;
  readonly service: string;
}

/**
 * Signs content type, host, date and the exact bytes of the body; other headers may change on the way.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export async function signV4(call: UpstreamCall, credentials: Credentials, now: number): Promise<void> {
  const signer = createSigner(call, credentials, now);
  const { headers } = await signer.sign();
  Object.assign(call.headers, Object.fromEntries(headers));
}

/** Creates the signer of a call; its methods return the steps of the signature. */
export function createSigner(call: UpstreamCall, credentials: Credentials, now: number): AwsV4Signer {
  const { id, secret, session, region, service } = credentials;
  return new AwsV4Signer({
    method: call.method,
    url: call.url.href,
    headers: { "content-type": call.headers["content-type"] ?? "application/json" },
    allHeaders: true,
    body: call.body === undefined ? null : new Uint8Array(call.body),
    accessKeyId: id,
    secretAccessKey: secret,
    ...(session !== undefined && { sessionToken: session }),
    region,
    service,
    datetime: new Date(now).toISOString().replaceAll(/[-:]|\.\d{3}/g, ""),
  });
}
