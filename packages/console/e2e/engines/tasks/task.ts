import type { Screen } from "../screen.ts";
import type { World } from "../world.ts";

/** What an operator does from a cold sign-in. */
export interface Task {
  readonly title: string;
  run(screen: Screen, world: World): Promise<void>;
}
