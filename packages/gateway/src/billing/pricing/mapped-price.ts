import { listedName } from "./listed-name.ts";
import { OPERATOR, type Price } from "./rates.ts";

/**
 * Names that clients use -> for each way to serve one, the steps of the mapping from that name to the upstream's name.
 */
export type MappedNames = ReadonlyMap<string, readonly (readonly string[])[]>;

export type Resolver = (name: string) => Price | undefined;

/** Returns a resolver for names that channels map, based on the prices of single names. */
export function mappedResolver(resolve: Resolver, mapped: MappedNames): Resolver {
  return (name) => {
    const own = resolve(name);
    const paths = mapped.get(name);
    if (!paths || own?.source === OPERATOR.source) return own;
    const [first, ...others] = paths.flatMap((path) => findPathPrice(resolve, path) ?? own ?? []);
    return (
      first &&
      others.reduce(
        (dearest, one) => (calculateTypicalCost(one) > calculateTypicalCost(dearest) ? one : dearest),
        first,
      )
    );
  };
}

/** Returns the price of the last step that has one, because the name of a deployment has none. */
function findPathPrice(resolve: Resolver, [, ...steps]: readonly string[]): Price | undefined {
  for (const step of steps.toReversed()) {
    const price = resolve(listedName(step));
    if (price) return { ...price, source: `${price.source}, as ${step}`, pricedAs: step };
  }
  return undefined;
}

/** Returns the US dollars of a call with a thousand tokens each way, to compare prices. */
function calculateTypicalCost(price: Price): number {
  return price.kind === "call" ? price.modelPrice : price.modelRatio * (1 + price.completionRatio) * 0.002;
}
