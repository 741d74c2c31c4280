import { Box, Flex } from "@chakra-ui/react";
import { Suspense, useState } from "react";
import { Outlet, useLocation, useNavigate } from "react-router";
import { undoLast } from "../../ui/feedback/toaster.ts";
import { useKeys } from "../../lib/keys.ts";
import { stored } from "../../lib/storage.ts";
import { useMedia } from "../../lib/use-media.ts";
import { useStore } from "../../lib/store.ts";
import { hasDefaultPassword } from "../../session/session.ts";
import { useSelf } from "../../session/self.ts";
import { useStatus } from "../../session/status.ts";
import { useTexts } from "../../shared/texts.ts";
import { usePages } from "../use-pages.ts";
import { AwayBanner } from "./away-banner.tsx";
import { Footer } from "./footer.tsx";
import { Header } from "./header.tsx";
import { isPaletteOpen, isSheetOpen } from "./overlays.ts";
import { Sidebar } from "./sidebar.tsx";
import { lateNeeded, lateOverlay } from "../../ui/late/late.tsx";

const Palette = lateOverlay(async () => (await import("../palette/palette.tsx")).Palette);
const MobileNav = lateOverlay(async () => (await import("./mobile-nav.tsx")).MobileNav);
const DefaultPasswordWarning = lateNeeded(
  async () => (await import("../../shared/credentials/default-password.tsx")).DefaultPasswordWarning,
);
const ShortcutSheet = lateOverlay(async () => (await import("./shortcut-sheet.tsx")).ShortcutSheet);

function GoKeys() {
  const navigate = useNavigate();
  const pages = usePages();
  return pages.map(({ path, key }) =>
    key === undefined ? null : <GoKey key={path} keys={`g>${key}`} go={() => void navigate(path)} />,
  );
}

function GoKey(props: { readonly keys: string; go(): void }) {
  useKeys(props.keys, props.go);
  return null;
}

function Overlays() {
  const isPalette = useStore(isPaletteOpen);
  const isSheet = useStore(isSheetOpen);
  const isWarned = useStore(hasDefaultPassword);
  useKeys("mod+k", () => isPaletteOpen.write(true));
  // Inputs undo their own text.
  useKeys("mod+z", () => void undoLast(), true, false);
  useKeys("?", () => isSheetOpen.write(true));
  return (
    <Suspense>
      {isPalette && <Palette onClose={() => isPaletteOpen.write(false)} />}
      {isSheet && <ShortcutSheet onClose={() => isSheetOpen.write(false)} />}
      {isWarned && <DefaultPasswordWarning />}
    </Suspense>
  );
}

/** A window of 1440 pixels at a zoom of 200 % is this narrow: the sidebar would take a third of it. */
const NARROW = "(max-width: 899px)";

/**
 * Returns whether the sidebar shows icons alone. In a narrow window it does, whatever was chosen for a wide one, until
 * the user opens it.
 */
function useSidebar(isCollapsedByDefault: boolean) {
  const isNarrow = useMedia(NARROW);
  const [isWideCollapsed, setWideCollapsed] = useState(
    () => (stored.sidebar.read() ?? (isCollapsedByDefault ? "collapsed" : "open")) === "collapsed",
  );
  const [isNarrowOpen, setNarrowOpen] = useState(false);
  const isCollapsed = isNarrow ? !isNarrowOpen : isWideCollapsed;
  const toggle = () => {
    if (isNarrow) return setNarrowOpen(isCollapsed);
    stored.sidebar.write(isCollapsed ? "open" : "collapsed");
    setWideCollapsed(!isCollapsed);
  };
  return { isCollapsed, toggle };
}

/** Header, sidebar and the place where pages appear. */
export function Frame() {
  const t = useTexts();
  const status = useStatus();
  const location = useLocation();
  // Keeps the remembered role, group and name in step with the server.
  useSelf();
  const sidebar = useSidebar(status.default_collapse_sidebar);
  const [isMenuOpen, setMenuOpen] = useState(false);
  useKeys("mod+b", sidebar.toggle);
  return (
    <Flex direction="column" minH="100dvh">
      <a className="skip-link" href="#content">
        {t("skip")}
      </a>
      <Header onMenu={() => setMenuOpen(true)} />
      <Flex flex="1" minH="0">
        <Box
          display={{ base: "none", sm: "block" }}
          className="frame-side"
          width={sidebar.isCollapsed ? "56px" : "216px"}
          flex="none"
          position="sticky"
          top="48px"
          height="calc(100dvh - 48px)"
        >
          <Sidebar isCollapsed={sidebar.isCollapsed} onToggle={sidebar.toggle} />
        </Box>
        <Flex direction="column" flex="1" minW="0">
          <Flex as="main" id="content" direction="column" flex="1" pt="1">
            <AwayBanner />
            <Box flex="1" key={location.pathname.split("/")[1]}>
              <Outlet />
            </Box>
          </Flex>
          <Footer />
        </Flex>
      </Flex>
      <Suspense>{isMenuOpen && <MobileNav onClose={() => setMenuOpen(false)} />}</Suspense>
      <GoKeys />
      <Overlays />
    </Flex>
  );
}
