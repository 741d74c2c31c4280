import type { FallbackEntry, Limits, OptionValues, TeamSettings } from "@fairway/wire";
import type { PriceBook } from "../billing/pricing/price-book.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import type { BalancingPolicy } from "./balancing-policy.ts";
import type { CachePolicy } from "./cache-policy.ts";
import type { FallbackPolicy } from "./fallback-policy.ts";
import type { GuardrailPolicy } from "./guardrail-policy.ts";
import type { OwnTagLimits } from "./tag-limits.ts";
import type { OwnTags, TagSettings } from "./tag-policy.ts";

/** The configuration that requests read: immutable, replaced as a whole after every change. */
export interface Snapshot {
  /** The sum of the revisions from which it was built; only increases. */
  readonly revision: number;
  readonly options: OptionValues;
  readonly prices: PriceBook;
  /** Undefined while the guardrail is off. */
  readonly guardrail: GuardrailPolicy | undefined;
  /** Undefined while the response cache is off. */
  readonly responseCache: CachePolicy | undefined;
  /** Undefined while no model has a fallback. */
  readonly fallbacks: FallbackPolicy | undefined;
  /** Undefined while every model's channels are drawn by weight. */
  readonly balancing: BalancingPolicy | undefined;
  /** Undefined while the operator has set nothing about tags. */
  readonly tags: TagSettings | undefined;
  readonly channels: ReadonlyMap<number, ChannelRecord>;
  /** group -> model -> priority levels, highest first; enabled channels only. */
  readonly index: ReadonlyMap<string, ReadonlyMap<string, readonly Level[]>>;
  /** group -> models that some channel lists, whatever its status; distinguishes 404 from 503. */
  readonly listed: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Channels of one priority. */
export interface Level {
  readonly priority: number;
  readonly channels: readonly ChannelRecord[];
}

/** The owner of the current snapshot. */
export interface SnapshotStore {
  current(): Snapshot;
  /** Rebuilds from the database now; used by the replica that made a change. */
  refresh(): Promise<void>;
  /** Called after each replacement. */
  subscribe(listener: (snapshot: Snapshot) => void): () => void;
}

/** A token and its owner as the relay needs them; never older than a few seconds. */
export interface TokenRecord {
  readonly id: number;
  /** The hash of the key. */
  readonly keyHash: string;
  readonly name: string;
  readonly status: number;
  /** Epoch seconds, -1 = never. */
  readonly expiredTime: number;
  readonly isUnlimited: boolean;
  /** Remaining quota at the time of the read; the ledger decides, not this number. */
  readonly remainQuota: number;
  /**
   * The quota that the key has used. Together with `remainQuota` it is the total that the key was ever granted, which
   * only its owner changes.
   */
  readonly usedQuota: number;
  /** The revision of tokens at which this was read. */
  readonly revision: number;
  /** Undefined = no limit. */
  readonly modelLimits: ReadonlySet<string> | undefined;
  /** Parsed once; undefined = no limit; an empty list denies all. */
  readonly allowedNetworks: readonly Network[] | undefined;
  readonly group: string;
  /** The token's own limits; undefined = none. */
  readonly limits: Limits | undefined;
  /** Undefined = those of the operator. */
  readonly fallbacks?: readonly FallbackEntry[] | "off" | undefined;
  /** When prompts get marks for the provider's cache; undefined = as the channel says. */
  readonly promptCache?: "off" | "auto" | "always";
  /** The member who made a key of a team; 0 = none. */
  readonly memberId: number;
  /** The service account that holds the key; 0 = none. */
  readonly serviceAccountId: number;
  /** Set if the owner is the wallet of a team. */
  readonly team?: TeamRecord | undefined;
  /** Set while a replaced key of the token works, and for one that has ended. */
  readonly rotation?: TokenRotation | undefined;
  /** Fixed tags and policies of the token and its team; undefined if there are none. */
  readonly tags?: OwnTags | undefined;
  /** Limits of the token and of its owner by values of tags; undefined if there are none. */
  readonly tagLimits?: readonly OwnTagLimits[] | undefined;
  readonly user: UserRecord;
}

/** The team of a key as the relay needs it. */
export interface TeamRecord {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  /** False if the team is disabled or deleted. */
  readonly isActive: boolean;
  readonly settings: TeamSettings;
  /** The member (`u17`) or service account (`s3`) that uses the key; "" = neither. */
  readonly actor: string;
  /** Name of the member or service account; "" = neither. */
  readonly actorName: string;
  /** Why the key is off although its row is on: its maker left, or the service account is disabled. */
  readonly stoppedBy: "maker" | "service_account" | undefined;
}

/** The key by which a token was found. */
export interface TokenRotation {
  /** First and last characters of the key. */
  readonly hint: string;
  /** Epoch seconds at which the last of the replaced keys stops working. */
  readonly until: number;
  /** Epoch seconds at which this key stops working, which may be past; absent for the current one. */
  readonly keyExpiresAt?: number;
}

export interface UserRecord {
  readonly id: number;
  readonly username: string;
  readonly role: number;
  readonly status: number;
  readonly group: string;
  readonly limits: Limits | undefined;
  readonly isDeleted: boolean;
}

export interface Network {
  contains(address: string): boolean;
}

/** Tokens by key hash: an LRU with a TTL of 60 s (5 s for unknown keys), cleared when a write is announced. */
export interface TokenCache {
  find(keyHash: string): Promise<TokenRecord | undefined>;
  dropToken(tokenId: number): void;
  dropUser(userId: number): void;
}
