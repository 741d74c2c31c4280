import { LOG_TYPE } from "@fairway/wire";
import { Box, Button, Flex } from "@chakra-ui/react";
import { useState } from "react";
import { FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { RangeFilter } from "../../ui/grid/range-filter.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import type { LogFilter } from "./api.ts";
import { findReasonText } from "../../shared/failures/reasons.ts";
import { useTokenName } from "../../shared/tokens/token-name.ts";
import { useTexts as useFailureTexts } from "../../shared/failures/texts.ts";
import { ChannelFilter } from "../../shared/channels/channel-filter.tsx";
import { AccountFilter, TokenFilter } from "../../shared/names/name-filter.tsx";
import { useTexts } from "./texts.ts";

interface LiveState {
  readonly isOn: boolean;
  readonly isPaused: boolean;
  readonly isLost: boolean;
}

interface ToolbarProps {
  readonly filter: LogFilter;
  readonly isAdmin: boolean;
  readonly isFiltered: boolean;
  onFilter(change: Partial<Record<keyof LogFilter, string>>): void;
  onClear(): void;
  readonly areFacetsOpen: boolean;
  onFacets(): void;
  readonly live: LiveState;
  /** True if the range ends in the past: nothing new can match. */
  readonly isPast: boolean;
  onLive(): void;
  onPause(): void;
  onRefresh(): void;
}

/** The format of `x-request-id`. */
const REQUEST_ID = /^[0-9A-Z]{26}$/;

/** Finds a request by its id, otherwise the calls of a model. */
function Search({ filter, onFilter }: ToolbarProps) {
  const t = useTexts();
  return (
    <FilterText
      isMain
      width="176px"
      label={t("searchMain")}
      value={filter.request || filter.model}
      onChange={(text) => onFilter(REQUEST_ID.test(text) ? { request: text, model: "" } : { request: "", model: text })}
    />
  );
}

/**
 * Widths of the fields. At 1440 pixels, next to the menu and a scroll bar, they are one row with the buttons, also with a
 * filter and while live: 1161 pixels.
 */
const WIDTHS = { range: "120px", type: "112px", token: "104px", group: "76px", tag: "104px", name: "104px" } as const;

function Fields({ filter, isAdmin, onFilter }: ToolbarProps) {
  const t = useTexts();
  const types = [
    { value: "0", label: t("all") },
    { value: String(LOG_TYPE.topup), label: t("topup") },
    { value: String(LOG_TYPE.consume), label: t("consume") },
    { value: String(LOG_TYPE.manage), label: t("manage") },
    { value: String(LOG_TYPE.system), label: t("system") },
    { value: String(LOG_TYPE.error), label: t("failedCall") },
  ];
  return (
    <>
      <RangeFilter
        state={filter}
        names={["today", "1h", "24h", "7d", "30d", "custom"]}
        width={WIDTHS.range}
        change={onFilter}
      />
      <FilterSelect
        label={t("type")}
        value={filter.type}
        width={WIDTHS.type}
        choices={types}
        onChange={(type) => onFilter({ type })}
      />
      <TokenFilter
        label={t("searchToken")}
        width={WIDTHS.token}
        value={filter.token}
        onChange={(token) => onFilter({ token })}
      />
      <FilterText
        label={t("group")}
        width={WIDTHS.group}
        value={filter.group}
        onChange={(group) => onFilter({ group })}
      />
      <FilterText
        label={t("searchTag")}
        width={WIDTHS.tag}
        value={filter.tags || filter.endUser}
        onChange={(text) => onFilter(text.includes("=") ? { tags: text } : { tags: "", endUser: text })}
      />
      {isAdmin && (
        <>
          <AccountFilter
            label={t("searchUser")}
            width={WIDTHS.name}
            value={filter.user}
            onChange={(user) => onFilter({ user })}
          />
          <ChannelFilter
            label={t("searchChannel")}
            width={WIDTHS.name}
            value={filter.channel}
            onChange={(channel) => onFilter({ channel })}
          />
        </>
      )}
    </>
  );
}

/** Shows the filters that have no field, each with a remove button. */
function Chips({ filter, onFilter }: ToolbarProps) {
  const t = useTexts();
  const say = useFailureTexts();
  const tokenName = useTokenName(Number(filter.tokenId));
  const chips = [
    { name: "tokenId", label: t("token"), text: filter.tokenId === "" ? "" : (tokenName ?? `#${filter.tokenId}`) },
    { name: "status", label: t("status"), text: filter.status },
    // The field shows the tags if there are both.
    { name: "endUser", label: t("endUser"), text: filter.tags === "" ? "" : filter.endUser },
    { name: "code", label: t("code"), text: findReasonText(filter.code, say) ?? filter.code },
  ] as const;
  const shown = chips.filter(({ text }) => text !== "");
  if (shown.length === 0) return null;
  return (
    <Flex gap="2" wrap="wrap" width="full">
      {shown.map(({ name, label, text }) => (
        <Button
          key={name}
          size="xs"
          variant="outline"
          color="fairway.fg"
          aria-label={t("dropFilter", { name: `${label} ${text}` })}
          onClick={() => onFilter({ [name]: "" })}
        >
          {label}: <bdi>{text}</bdi>
          <Icon name="close" size={12} />
        </Button>
      ))}
    </Flex>
  );
}

/** Follows the log, and holds back new rows while paused. */
function LiveButtons({ live, isPast, isFiltered, onLive, onPause }: ToolbarProps) {
  const t = useTexts();
  const { isOn, isPaused, isLost } = live;
  const help = t(isPast ? "livePast" : isLost ? "liveLost" : isOn ? "liveOn" : "liveOff");
  const dot = isOn ? (isLost ? "live-dot is-lost" : "live-dot is-on") : "live-dot";
  return (
    <>
      {isOn && (
        <IconButton variant="outline" label={t(isPaused ? "resume" : "pause")} onClick={onPause}>
          <Icon name={isPaused ? "play" : "pause"} />
        </IconButton>
      )}
      <Button
        variant="outline"
        aria-pressed={isOn}
        aria-label={t("live")}
        title={help}
        disabled={isPast}
        color={isOn ? "fairway.fg" : "fg"}
        px={{ base: "2.5", "2xl": "3" }}
        onClick={onLive}
      >
        <span className={dot} />
        <Box as="span" display={{ base: "none", xl: isFiltered ? "none" : "inline", "2xl": "inline" }}>
          {t("live")}
        </Box>
      </Button>
    </>
  );
}

/** One row above the log; on phones the fields unfold below it. */
export function Toolbar(props: ToolbarProps) {
  const t = useTexts();
  const [isOpen, setOpen] = useState(false);
  return (
    <Flex role="search" aria-label={t("filters")} gap="2" wrap="wrap" align="center" mb="3">
      <IconButton
        variant="outline"
        label={t("facetsHelp")}
        aria-pressed={props.areFacetsOpen}
        color={props.areFacetsOpen ? "fairway.fg" : "fg"}
        onClick={props.onFacets}
      >
        <Icon name="sidebar" />
      </IconButton>
      <Box flex={{ base: "1 1 120px", sm: "none" }} minW="0">
        <Search {...props} />
      </Box>
      <Box display={{ base: "block", sm: "none" }}>
        <IconButton
          variant="outline"
          label={t("filters")}
          aria-expanded={isOpen}
          color={props.isFiltered ? "fairway.fg" : "fg"}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="filter" />
        </IconButton>
      </Box>
      <Flex
        display={{ base: isOpen ? "flex" : "none", sm: "contents" }}
        order={{ base: 1, sm: 0 }}
        gap="2"
        wrap="wrap"
        width="full"
      >
        <Fields {...props} />
      </Flex>
      {props.isFiltered && (
        <Box display={{ base: isOpen ? "block" : "none", sm: "block" }} order={{ base: 1, sm: 0 }}>
          <IconButton label={t("clear")} onClick={props.onClear}>
            <Icon name="close" />
          </IconButton>
        </Box>
      )}
      <Flex ms="auto" gap="2" align="center">
        <LiveButtons {...props} />
        <Box display={{ base: "none", sm: "block" }}>
          <IconButton variant="outline" label={t("refresh")} onClick={props.onRefresh}>
            <Icon name="refresh" />
          </IconButton>
        </Box>
      </Flex>
      <Chips {...props} />
    </Flex>
  );
}
