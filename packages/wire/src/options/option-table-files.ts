import { fileChannelsType, fileQuotasType } from "./file-types.ts";
import { count, option } from "./option-definition.ts";
import { choiceType } from "./option-kinds.ts";

/** Options for files that clients store at upstreams. */
export const FILE_OPTIONS = {
  FileVisibility: option(choiceType(["user", "token"], "user or token"), "user", [
    "relay",
    "Who sees a stored file: every token of the user, or only the token that uploaded it.",
  ]),
  FileUserMegabytes: option(count, "10240", ["relay", "Megabytes of files that a user may store; 0 allows none."]),
  FileUserCount: option(count, "10000", ["relay", "Files that a user may store; 0 allows none."]),
  FileGroupQuotas: option(fileQuotasType, "{}", [
    "relay",
    "The same two limits for the users of a group, by its name: megabytes and count.",
  ]),
  FileChannels: option(fileChannelsType, "{}", [
    "relay",
    "Channels that take uploads which name no model, by group: ids or tags, the first usable one first.",
  ]),
} as const;
