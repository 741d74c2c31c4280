/** The protocol in which clients and upstreams speak about batches. */
export type BatchProtocolId = "anthropic";

/** What a vendor's batch API has of its own, besides its protocol. */
export interface BatchSupport {
  readonly protocol: BatchProtocolId;
  /** Path of the list of batches. */
  readonly path: string;
  readonly maxItems: number;
  readonly maxBytes: number;
}
