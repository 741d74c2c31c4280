import { groupList, type OptionValues } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";

export interface GroupRoutesDeps {
  readonly options: () => Pick<OptionValues, "GroupRatio">;
}

export function groupRoutes({ options }: GroupRoutesDeps): Route[] {
  return [implement(groupList, () => Object.keys(options().GroupRatio).toSorted())];
}
