import { searchAll } from "@fairway/wire";
import { Dialog, Portal } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { useDeferredValue, useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { call } from "../../lib/http.ts";
import { setLanguage, useLanguage } from "../../lib/i18n.ts";
import { printKeys } from "../../lib/keys.ts";
import { Icon, type IconName } from "../../ui/display/icon.tsx";
import { isAdmin, useUser } from "../../session/session.ts";
import { useSignOut } from "../../shared/credentials/sign-out.ts";
import { useTexts } from "../../shared/texts.ts";
import { setThemeMode, useThemeMode } from "../../theme/theme-mode.ts";
import { usePages } from "../use-pages.ts";
import "./palette.css";

interface Item {
  readonly id: string;
  readonly label: string;
  readonly icon: IconName;
  readonly keys?: string;
  run(): void;
}

const SHORTEST_SEARCH = 2;

function useFound(text: string) {
  const user = useUser();
  const wanted = useDeferredValue(text.trim());
  const { data } = useQuery({
    queryKey: ["search", wanted],
    queryFn: async ({ signal }) => {
      // Typing is not sent letter by letter.
      await new Promise((resolve) => setTimeout(resolve, 250));
      return signal.aborted ? undefined : call(searchAll, { query: { q: wanted }, signal });
    },
    enabled: user !== undefined && wanted.length >= SHORTEST_SEARCH,
    retry: false,
  });
  return data;
}

/** Every action that the palette knows besides pages. */
function useActions(go: (path: string) => void): Item[] {
  const t = useTexts();
  const user = useUser();
  const mode = useThemeMode();
  const language = useLanguage();
  const signOut = useSignOut();
  const actions: (Item | false)[] = [
    isAdmin(user) && { id: "add-channel", label: t("actAddChannel"), icon: "plus", run: () => go("/channel/add") },
    user !== undefined && { id: "add-token", label: t("actAddToken"), icon: "plus", run: () => go("/token/add") },
    {
      id: "theme",
      label: t("actTheme"),
      icon: mode === "dark" ? "sun" : "moon",
      run: () => setThemeMode(mode === "dark" ? "light" : "dark"),
    },
    {
      id: "language",
      label: t("actLanguage"),
      icon: "globe",
      run: () => void setLanguage(language === "en" ? "zh" : "en"),
    },
    user !== undefined && { id: "exit", label: t("actExit"), icon: "exit", run: signOut },
  ];
  return actions.filter((action) => action !== false);
}

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
          value={`${item.label} ${item.id}`}
          forceMount={props.isFound ?? false}
          onSelect={() => props.onRun(item)}
        >
          <Icon name={item.icon} />
          <span className="cut">{item.label}</span>
          {item.keys && <kbd className="kbd">{printKeys(item.keys)}</kbd>}
        </Command.Item>
      ))}
    </Command.Group>
  );
}

/** Ctrl K: pages, actions, and what the server finds by name. */
export function Palette(props: { onClose(): void }) {
  const t = useTexts();
  const navigate = useNavigate();
  const offered = usePages();
  const root = useRef<HTMLDivElement>(null);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState("");
  const go = (path: string) => void navigate(path);
  const actions = useActions(go);
  const found = useFound(text);
  const pages = offered.map((page): Item => ({
    id: page.path,
    label: t(page.label),
    icon: page.icon,
    keys: `g>${page.key}`,
    run: () => go(page.path),
  }));
  const channels = (found?.channels ?? []).map((row): Item => ({
    id: `channel-${row.id}`,
    label: `#${row.id} ${row.name}`,
    icon: "channel",
    run: () => go(`/channel/edit/${row.id}`),
  }));
  const tokens = (found?.tokens ?? []).map((row): Item => ({
    id: `token-${row.id}`,
    label: row.name,
    icon: "key",
    run: () => go(`/token/edit/${row.id}`),
  }));
  const models = (found?.models ?? []).map((name): Item => ({
    id: `model-${name}`,
    label: name,
    icon: "log",
    run: () => go(`/log?model=${encodeURIComponent(name)}`),
  }));
  useEffect(() => {
    // What the server found arrives after the list has chosen its first entry, or none.
    const items = root.current?.querySelectorAll<HTMLElement>("[cmdk-item]") ?? [];
    if (found && ![...items].some((item) => item.dataset["selected"] === "true"))
      setChosen(items[0]?.dataset["value"] ?? "");
  }, [found]);
  const run = (item: Item) => {
    props.onClose();
    item.run();
  };
  return (
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="top" size="md">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content mt="12vh" overflow="hidden" aria-label={t("paletteTitle")}>
            <Command
              ref={root}
              label={t("paletteTitle")}
              loop
              className="palette"
              value={chosen}
              onValueChange={setChosen}
            >
              <div className="palette-input">
                <Icon name="search" />
                <Command.Input autoFocus value={text} onValueChange={setText} placeholder={t("palettePlaceholder")} />
              </div>
              <Command.List label={t("paletteTitle")}>
                {channels.length + tokens.length + models.length === 0 && (
                  <Command.Empty>{t("paletteEmpty")}</Command.Empty>
                )}
                <Group title={t("palettePages")} items={pages} onRun={run} />
                <Group title={t("paletteActions")} items={actions} onRun={run} />
                <Group title={t("paletteChannels")} items={channels} onRun={run} isFound />
                <Group title={t("paletteTokens")} items={tokens} onRun={run} isFound />
                <Group title={t("paletteModels")} items={models} onRun={run} isFound />
              </Command.List>
            </Command>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
