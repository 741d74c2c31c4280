import { ROLE } from "@fairway/wire";
import { Dialog, Portal } from "@chakra-ui/react";
import { Command, defaultFilter } from "cmdk";
import { useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { printKeys } from "../../lib/keys.ts";
import { isIconName, Icon } from "../../ui/display/icon.tsx";
import { useOfferedActions } from "../../ui/menu/actions.ts";
import { getRole, useUser } from "../../session/session.ts";
import { stayForToasts } from "../../ui/feedback/outside.ts";
import { useTexts } from "../../shared/texts.ts";
import { usePages } from "../use-pages.ts";
import type { Item } from "./item.ts";
import "./palette.css";
import { recents, remember } from "./recents.ts";
import { useGlobalActions } from "./use-actions.ts";
import { useFound, useFoundOptions } from "./use-found.ts";

function Group(props: {
  readonly title: string;
  readonly items: readonly Item[];
  onRun(item: Item): void;
  readonly isFound?: boolean;
}) {
  if (props.items.length === 0) return null;
  return (
    <Command.Group heading={props.title} forceMount={props.isFound ?? false}>
      {props.items.map((item) => (
        <Command.Item
          key={item.id}
          value={`${item.label} ${item.note ?? ""} ${item.term ?? item.id}`}
          forceMount={props.isFound ?? false}
          onSelect={() => props.onRun(item)}
        >
          <Icon name={item.icon} />
          <span className="cut">{item.label}</span>
          {item.note !== undefined && <span className="palette-note">{item.note}</span>}
          {item.keys && <kbd className="kbd">{printKeys(item.keys)}</kbd>}
        </Command.Item>
      ))}
    </Command.Group>
  );
}

/** Finds a name on the server and among the settings. */
function useHits(text: string) {
  const isRoot = getRole(useUser()) >= ROLE.root;
  const found = useFound(text);
  const options = useFoundOptions(text, isRoot);
  const channels = (found?.channels ?? []).map(({ id, name }): Item => ({
    id: `channel-${id}`,
    label: name,
    note: `#${id}`,
    icon: "channel",
    to: `/channel/edit/${id}`,
  }));
  const tokens = (found?.tokens ?? []).map(({ id, name }): Item => ({
    id: `token-${id}`,
    label: name,
    icon: "key",
    ...(found?.owner === undefined ? { to: `/token/edit/${id}` } : { note: found.owner, to: `/token/${id}` }),
  }));
  const users = (found?.users ?? []).map(({ id, username, display_name: note }): Item => ({
    id: `user-${id}`,
    label: username,
    ...(note === "" || note === username ? {} : { note }),
    icon: "users",
    to: `/user/edit/${id}`,
  }));
  const models = (found?.models ?? []).map((name): Item => ({
    id: `model-${name}`,
    label: name,
    icon: "log",
    to: `/log?model=${encodeURIComponent(name)}`,
  }));
  const settings = options.map(({ key, label, to }): Item => ({
    id: `option-${key}`,
    label,
    note: key,
    icon: "settings",
    to,
  }));
  return { found, channels, tokens, users, models, settings };
}

function usePlaces() {
  const t = useTexts();
  const pages = usePages().map(({ path, label, icon, key }): Item => ({
    id: path,
    label: t(label),
    icon,
    ...(key !== undefined && { keys: `g>${key}` }),
    to: path,
  }));
  const recent = recents().map(({ to, label, icon }): Item => ({
    id: `recent-${to}`,
    label,
    icon: isIconName(icon) ? icon : "clock",
    to,
  }));
  return { pages, recent };
}

/** Below this score only single letters match, all over the text. */
const LOOSE = 0.01;

/** Returns how well an entry matches; 0 leaves it out. */
function scoreEntry(value: string, search: string): number {
  const score = defaultFilter(value, search);
  return score < LOOSE ? 0 : score;
}

/** Ctrl K: pages, actions, and search results by name. */
export function Palette(props: { onClose(): void }) {
  const t = useTexts();
  const navigate = useNavigate();
  const root = useRef<HTMLDivElement>(null);
  // The element that had the focus gets it again.
  const [opener] = useState(() => document.activeElement as HTMLElement | null);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState("");
  const { pages, recent } = usePlaces();
  const { found, channels, tokens, users, models, settings } = useHits(text);
  const actions = useGlobalActions();
  const offered = useOfferedActions().map(({ id, label, icon = "bolt", run }): Item => {
    // The id names the page, which would find all of its actions before the page itself.
    return { id, label, icon, run, term: "" };
  });
  const hits = [...channels, ...tokens, ...users, ...models, ...settings];
  useEffect(() => {
    // Search results arrive after the list has chosen its first entry, or none.
    const items = root.current?.querySelectorAll<HTMLElement>("[cmdk-item]") ?? [];
    if (hits.length > 0 && ![...items].some((item) => item.dataset["selected"] === "true"))
      setChosen(items[0]?.dataset["value"] ?? "");
  }, [found, settings.length]);
  const run = (item: Item) => {
    props.onClose();
    if ("run" in item) return item.run();
    remember({ to: item.to, label: item.label, icon: item.icon });
    void navigate(item.to);
  };
  return (
    <Dialog.Root
      open
      onOpenChange={(change) => !change.open && props.onClose()}
      onInteractOutside={stayForToasts}
      placement="top"
      size="md"
      finalFocusEl={() => (opener?.isConnected ? opener : null)}
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content mt="12vh" overflow="hidden" aria-label={t("paletteTitle")}>
            <Command
              ref={root}
              label={t("paletteTitle")}
              loop
              filter={scoreEntry}
              className="palette"
              value={chosen}
              onValueChange={setChosen}
            >
              <div className="palette-input">
                <Icon name="search" />
                <Command.Input autoFocus value={text} onValueChange={setText} placeholder={t("palettePlaceholder")} />
              </div>
              <Command.List label={t("paletteTitle")}>
                {hits.length === 0 && <Command.Empty>{t("paletteEmpty")}</Command.Empty>}
                {text.trim() === "" && <Group title={t("paletteRecent")} items={recent} onRun={run} />}
                <Group title={t("palettePage")} items={offered} onRun={run} />
                <Group title={t("palettePages")} items={pages} onRun={run} />
                <Group title={t("paletteActions")} items={actions} onRun={run} />
                <Group title={t("paletteChannels")} items={channels} onRun={run} isFound />
                <Group title={t("paletteTokens")} items={tokens} onRun={run} isFound />
                <Group title={t("paletteUsers")} items={users} onRun={run} isFound />
                <Group title={t("paletteModels")} items={models} onRun={run} isFound />
                <Group title={t("paletteOptions")} items={settings} onRun={run} isFound />
              </Command.List>
            </Command>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
