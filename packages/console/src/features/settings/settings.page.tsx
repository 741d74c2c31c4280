import { ROLE, type OptionKey } from "@fairway/wire";
import { Box, Flex } from "@chakra-ui/react";
import { useEffect, useRef, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { useUser } from "../../session/session.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { FilterText } from "../../ui/grid/filter-bar.tsx";
import { Page } from "../../ui/display/page.tsx";
import { useUnsavedGuard } from "../../ui/feedback/unsaved-guard.ts";
import type { Draft } from "./options/draft.ts";
import { IndexNav } from "./options/index-nav.tsx";
import { Options } from "./options/options.tsx";
import { PriceEditor } from "./options/prices/price-editor.tsx";
import type { PriceDrafts } from "./options/prices/prices.ts";
import { sectionNamed, sectionsFound, listSections, TABS, type Section, type Tab } from "./options/sections.ts";
import { useOptionWords } from "./options/words.ts";
import { Personal } from "./personal/personal.tsx";
import { useTexts } from "./texts.ts";

const STATE = { tab: "personal", section: "", q: "" };

/** Returns the sections with a change. */
function changedSections(draft: Draft): ReadonlySet<Section["id"]> {
  const keys = Object.keys(draft) as OptionKey[];
  const all = TABS.flatMap((tab) => listSections(tab));
  return new Set(all.filter((section) => section.keys.some((key) => keys.includes(key))).map(({ id }) => id));
}

/** Scrolls to the part that the address names and focuses its field, as soon as the part is loaded. */
function useAnchor(): void {
  const { hash, key } = useLocation();
  useEffect(() => {
    if (hash === "") return;
    const observer = new MutationObserver(show);
    function show() {
      const target = document.getElementById(decodeURIComponent(hash.slice(1)));
      if (!target) return;
      observer.disconnect();
      target.scrollIntoView({ block: "start" });
      target.querySelector<HTMLElement>("input, select, textarea")?.focus({ preventScroll: true });
    }
    observer.observe(document.body, { childList: true, subtree: true });
    show();
    return () => observer.disconnect();
  }, [hash, key]);
}

/** Every user's own settings; super administrators also see those of the gateway. */
export function SettingsPage() {
  const t = useTexts();
  const words = useOptionWords();
  const navigate = useNavigate();
  const [state, change] = useUrlState(STATE);
  const isRoot = (useUser()?.role ?? ROLE.guest) >= ROLE.root;
  const tab: Tab = (isRoot && TABS.find((name) => name === state.tab)) || "personal";
  const find = isRoot ? state.q : "";
  const [draft, setDraft] = useState<Draft>({});
  const [prices, setPrices] = useState<PriceDrafts>({});
  useUnsavedGuard(Object.keys(draft).length + Object.keys(prices).length > 0);
  const isPersonal = tab === "personal" && find === "";
  const isPrices = tab === "prices" && find === "";
  const section = tab === "personal" || tab === "prices" ? undefined : sectionNamed(tab, state.section);
  const shown = find === "" ? (section ? [section] : []) : sectionsFound(find, words);
  // Once shown it stays mounted but hidden, so that typed text survives a switch to another section.
  const wasPersonal = useRef(isPersonal);
  wasPersonal.current ||= isPersonal;
  useAnchor();
  return (
    <Page
      title={t("title")}
      actions={
        isRoot && <FilterText isMain width="240px" label={t("find")} value={state.q} onChange={(q) => change({ q })} />
      }
    >
      <Flex gap={{ base: "3", md: "6" }} align="flex-start" direction={{ base: "column", md: "row" }}>
        <IndexNav
          isRoot={isRoot}
          tab={tab}
          section={find === "" ? section?.id : undefined}
          changed={changedSections(draft)}
          go={(to) => void navigate(to)}
        />
        <Box flex="1" minW="0" width="full" maxW={isPrices ? "none" : "860px"}>
          {wasPersonal.current && (
            <Box hidden={!isPersonal}>
              <Personal />
            </Box>
          )}
          {isPrices && <PriceEditor drafts={prices} onDrafts={setPrices} />}
          {!isPersonal && !isPrices && <Options sections={shown} draft={draft} onDraft={setDraft} />}
        </Box>
      </Flex>
    </Page>
  );
}
