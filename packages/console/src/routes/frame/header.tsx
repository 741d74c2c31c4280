import { Box, Button, Flex, Kbd, Text } from "@chakra-ui/react";
import { Link } from "react-router";
import { useHealth } from "../../lib/server/health.ts";
import { printKeys } from "../../lib/keys.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { MarkShape, type MarkKind } from "../../ui/display/mark.tsx";
import { tip } from "../../ui/display/tip.ts";
import { toast } from "../../ui/feedback/toaster.ts";
import { useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { useTexts } from "../../shared/texts.ts";
import { AboutLink } from "./about-link.tsx";
import { Brand } from "../../shared/frame/brand.tsx";
import { isFestive } from "./festive.ts";
import { isPaletteOpen, isSheetOpen } from "./overlays.ts";
import { LanguageButton, ThemeButton } from "../../shared/frame/preferences.tsx";
import { UserMenu } from "./user-menu.tsx";

const HEALTH: Record<
  ReturnType<typeof useHealth>,
  { mark: MarkKind; text: "healthGood" | "healthShaky" | "healthAway" }
> = {
  good: { mark: "go", text: "healthGood" },
  shaky: { mark: "caution", text: "healthShaky" },
  away: { mark: "stop", text: "healthAway" },
};

function HealthMark() {
  const t = useTexts();
  const { mark, text } = HEALTH[useHealth()];
  return (
    <Box
      role="status"
      aria-label={t(text)}
      px="2"
      tabIndex={0}
      display={{ base: "none", sm: "block" }}
      {...tip(t(text))}
    >
      <MarkShape kind={mark} size={13} />
    </Box>
  );
}

function SearchButton() {
  const t = useTexts();
  return (
    <Button
      variant="outline"
      onClick={() => isPaletteOpen.write(true)}
      aria-keyshortcuts="Control+K Meta+K"
      color="fg.muted"
      fontWeight="normal"
      justifyContent="flex-start"
      bg="bg"
      width={{ base: "8", sm: "200px", md: "320px" }}
      px={{ base: "0", sm: "2.5" }}
      mx={{ base: "0", sm: "auto" }}
      ms={{ base: "auto", sm: "auto" }}
    >
      <Flex align="center" gap="2" flex="1" justify={{ base: "center", sm: "flex-start" }}>
        <Icon name="search" />
        <Text as="span" className="sr-only-phone" flex="1" textAlign="start">
          {t("search")}
        </Text>
        <Kbd aria-hidden="true" display={{ base: "none", md: "inline-flex" }} className="kbd">
          {printKeys("mod+k")}
        </Kbd>
      </Flex>
    </Button>
  );
}

/** A lantern around New Year. */
function Lantern() {
  const t = useTexts();
  if (!isFestive(new Date())) return null;
  return (
    <IconButton label={t("newYear")} color="fg.error" onClick={() => toast("info", t("newYear"))}>
      <Icon name="lantern" />
    </IconButton>
  );
}

/** The links to sign in and register; phones find the second one on the sign-in page. */
function VisitorLinks() {
  const t = useTexts();
  const { register_enabled: isOpen, password_register_enabled: isByPassword } = useStatus();
  return (
    <>
      {isOpen && isByPassword && (
        <Button asChild size="sm" variant="outline" display={{ base: "none", sm: "inline-flex" }}>
          <Link to="/register">{t("register")}</Link>
        </Button>
      )}
      <Button asChild size="sm">
        <Link to="/login">{t("signIn")}</Link>
      </Button>
    </>
  );
}

export function Header(props: { onMenu(): void }) {
  const t = useTexts();
  const user = useUser();
  return (
    <Flex
      as="header"
      position="sticky"
      top="0"
      zIndex="docked"
      align="center"
      gap={{ base: "1", sm: "2" }}
      height="48px"
      px="3"
      bg="bg.panel"
      borderBottomWidth="1px"
      flex="none"
    >
      <Box display={{ base: "block", sm: "none" }}>
        <IconButton label={t("openMenu")} hasTip={false} onClick={props.onMenu}>
          <Icon name="menu" size={18} />
        </IconButton>
      </Box>
      <Box width={{ base: "auto", md: "204px" }} minW="0">
        <Brand />
      </Box>
      <SearchButton />
      <Lantern />
      <HealthMark />
      <Box display={{ base: "none", sm: "block" }}>
        <LanguageButton />
      </Box>
      <Box display={{ base: "none", sm: "block" }}>
        <AboutLink />
      </Box>
      <Box display={{ base: "none", sm: "block" }}>
        <IconButton label={t("shortcuts")} onClick={() => isSheetOpen.write(true)}>
          <Icon name="help" />
        </IconButton>
      </Box>
      <ThemeButton />
      {user ? <UserMenu user={user} /> : <VisitorLinks />}
    </Flex>
  );
}
