import { Box, Flex, Text } from "@chakra-ui/react";
import { NavLink } from "react-router";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { tip } from "../../ui/display/tip.ts";
import type { PageEntry, Section } from "../page-entry.ts";
import { useStatus } from "../../session/status.ts";
import { useTexts } from "../../shared/texts.ts";
import { usePages } from "../use-pages.ts";
import { AboutLink } from "./about-link.tsx";
import { LanguageButton } from "../../shared/frame/preferences.tsx";

const SECTIONS: readonly {
  id: Section | undefined;
  title: "sectionUse" | "sectionWatch" | "sectionOperate" | undefined;
}[] = [
  { id: undefined, title: undefined },
  { id: "use", title: "sectionUse" },
  { id: "watch", title: "sectionWatch" },
  { id: "operate", title: "sectionOperate" },
];

interface SidebarProps {
  readonly isCollapsed: boolean;
  /** Absent in the drawer of phones, which cannot collapse. */
  onToggle?(): void;
  onNavigate?(): void;
}

function Entry(props: { readonly page: PageEntry; readonly isCollapsed: boolean; onNavigate?(): void }) {
  const t = useTexts();
  const { page, isCollapsed } = props;
  return (
    <li>
      <NavLink
        to={page.path}
        end={page.path === "/"}
        className="nav-link"
        aria-label={isCollapsed ? t(page.label) : undefined}
        onClick={() => props.onNavigate?.()}
        {...tip(isCollapsed ? t(page.label) : undefined, "right")}
      >
        <Icon name={page.icon} size={17} />
        {!isCollapsed && <span>{t(page.label)}</span>}
      </NavLink>
    </li>
  );
}

export function Sidebar(props: SidebarProps) {
  const t = useTexts();
  const { version } = useStatus();
  const visible = usePages();
  return (
    <Flex
      as="nav"
      aria-label={t("navigation")}
      direction="column"
      height="full"
      bg="bg.panel"
      borderEndWidth="1px"
      py="2"
      overflowY="auto"
    >
      <Flex direction="column" gap="3" flex="1" px="2">
        {SECTIONS.map((section) => {
          const entries = visible.filter((page) => page.section === section.id && !page.isAside);
          if (entries.length === 0) return null;
          return (
            <Box key={section.id ?? "top"}>
              {section.title && !props.isCollapsed && (
                <Text textStyle="xs" color="fg.muted" px="2.5" pb="1" fontWeight="medium">
                  {t(section.title)}
                </Text>
              )}
              <ul className="nav-list">
                {entries.map((page) => (
                  <Entry
                    key={page.path}
                    page={page}
                    isCollapsed={props.isCollapsed}
                    {...(props.onNavigate ? { onNavigate: props.onNavigate } : {})}
                  />
                ))}
              </ul>
            </Box>
          );
        })}
      </Flex>
      <Flex align="center" px="2" pt="2" direction={props.isCollapsed ? "column" : "row"}>
        {!props.isCollapsed && (
          <Text textStyle="xs" color="fg.muted" px="2.5" flex="1">
            {t("version", { version })}
          </Text>
        )}
        {props.onToggle ? (
          <IconButton label={t(props.isCollapsed ? "expand" : "collapse")} onClick={props.onToggle}>
            <Icon name="sidebar" />
          </IconButton>
        ) : (
          // A phone's header has no room for these.
          <>
            <LanguageButton />
            <AboutLink {...(props.onNavigate ? { onNavigate: props.onNavigate } : {})} />
          </>
        )}
      </Flex>
    </Flex>
  );
}
