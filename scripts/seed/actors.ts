import { QUOTA_PER_UNIT } from "../../packages/wire/src/core/constants.ts";
import type { Population, SampleChannel, SampleToken, SampleUser } from "./entities.ts";
import { SAMPLE_MODELS, type SampleModel } from "./models.ts";
import { createRankedDraw, type Random } from "./random.ts";

/** Users, tokens and channels of the traffic with their sums so far. Amounts are quota units. */
export interface Actors {
  readonly accounts: readonly Account[];
  readonly callers: readonly Caller[];
  readonly upstreams: readonly Upstream[];
  readonly drawCaller: () => Caller;
}

export interface Account extends SampleUser {
  balance: number;
  used: number;
  calls: number;
}

export interface Caller extends SampleToken {
  readonly account: Account;
  readonly ip: string;
  /** Most of its calls go to the first of three services. */
  readonly drawService: () => Service;
  used: number;
  /** Epoch seconds. */
  seenAt: number;
}

interface Upstream extends SampleChannel {
  used: number;
}

/** A model with the channels that serve it and the texts that all of its rows share. */
export interface Service extends SampleModel {
  readonly place: number;
  readonly drawUpstream: () => Upstream;
  readonly content: string;
  readonly otherHead: string;
  readonly otherMiddle: string;
}

/** The balance with which every account starts. */
export const GIFT = 5 * QUOTA_PER_UNIT;

const FIRST_SHARE = 0.7;
const SECOND_SHARE = 0.9;

export function createActors({ users, tokens, channels }: Population, random: Random): Actors {
  const accounts = users.map((user): Account => ({ ...user, balance: GIFT, used: 0, calls: 0 }));
  const upstreams = channels.map((channel): Upstream => ({ ...channel, used: 0 }));
  const services = SAMPLE_MODELS.map((model, place) => createService(model, place, upstreams, random));
  const drawAnyService = createRankedDraw(services, random);
  const callers = tokens.flatMap((token, index): Caller[] => {
    const account = accounts[token.user];
    if (!account) return [];
    const [first, second, third] = [drawAnyService(), drawAnyService(), drawAnyService()];
    const drawService = () => {
      const which = random();
      return which < FIRST_SHARE ? first : which < SECOND_SHARE ? second : third;
    };
    return [
      {
        ...token,
        account,
        ip: `10.${index % 7}.${(index >> 8) & 255}.${index & 255}`,
        drawService,
        used: 0,
        seenAt: 0,
      },
    ];
  });
  return { accounts, callers, upstreams, drawCaller: createRankedDraw(callers, random) };
}

function createService(model: SampleModel, place: number, upstreams: readonly Upstream[], random: Random): Service {
  const { ratio, completionRatio } = model;
  const serving = upstreams.filter(({ models }) => models.split(",").includes(model.name));
  return {
    ...model,
    place,
    drawUpstream: createRankedDraw(serving.length > 0 ? serving : upstreams, random),
    content: `Model ratio ${ratio}, completion ratio ${completionRatio}, group ratio 1`,
    otherHead: `{"model_ratio":${ratio},"completion_ratio":${completionRatio},"group_ratio":1,"model_price":-1,"frt":`,
    otherMiddle: `,"usage_source":"upstream","end_reason":"stop","admin_info":{"use_channel":["`,
  };
}
