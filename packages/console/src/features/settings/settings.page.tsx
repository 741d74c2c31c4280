import { ROLE } from "@fairway/wire";
import { Box, Button, Flex } from "@chakra-ui/react";
import { useRef, useState } from "react";
import { useUser } from "../../session/session.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { FilterText } from "../../ui/grid/filter-bar.tsx";
import { Page } from "../../ui/display/page.tsx";
import { useUnsavedGuard } from "../../ui/form/unsaved-guard.ts";
import { TABS, type Draft, type Tab } from "./options/groups.ts";
import { Options } from "./options/options.tsx";
import { Personal } from "./personal/personal.tsx";
import { PriceEditor } from "./options/price-editor.tsx";
import type { PriceDrafts } from "./options/prices.ts";
import { useTexts } from "./texts.ts";

const STATE = { tab: "personal", q: "" };

/** Everybody's own settings; super administrators also have those of the gateway. */
export function SettingsPage() {
  const t = useTexts();
  const [state, change] = useUrlState(STATE);
  const isRoot = (useUser()?.role ?? ROLE.guest) >= ROLE.root;
  const tab: Tab = (isRoot && TABS.find((name) => name === state.tab)) || "personal";
  const find = isRoot ? state.q : "";
  const [draft, setDraft] = useState<Draft>({});
  const [prices, setPrices] = useState<PriceDrafts>({});
  useUnsavedGuard(Object.keys(draft).length + Object.keys(prices).length > 0);
  const isPersonal = tab === "personal" && find === "";
  const isPrices = tab === "prices" && find === "";
  // Once it was seen it stays, out of sight: what was typed there survives a switch to another tab.
  const wasPersonal = useRef(isPersonal);
  wasPersonal.current ||= isPersonal;
  return (
    <Page title={t("title")} {...(isPrices ? {} : { width: "form" })}>
      {isRoot && (
        <Flex as="nav" aria-label={t("tabs")} gap="2" mb="4" wrap="wrap" align="center">
          {TABS.map((name) => (
            <Button
              key={name}
              size="sm"
              variant={name === tab && state.q === "" ? "solid" : "outline"}
              aria-current={name === tab && state.q === "" ? "page" : undefined}
              onClick={() => change({ tab: name, q: "" })}
            >
              {t(name)}
            </Button>
          ))}
          <Flex ms="auto" width={{ base: "full", sm: "auto" }}>
            <FilterText isMain width="200px" label={t("find")} value={state.q} onChange={(q) => change({ q })} />
          </Flex>
        </Flex>
      )}
      {wasPersonal.current && (
        <Box hidden={!isPersonal}>
          <Personal />
        </Box>
      )}
      {isPrices && <PriceEditor drafts={prices} onDrafts={setPrices} />}
      {!isPersonal && !isPrices && <Options tab={tab} find={find} draft={draft} onDraft={setDraft} />}
    </Page>
  );
}
