import { createSystem, defaultBaseConfig, type SystemConfig } from "@chakra-ui/react";
import {
  animationStyles,
  breakpoints as chakraBreakpoints,
  buttonRecipe,
  dialogSlotRecipe,
  drawerSlotRecipe,
  fieldSlotRecipe,
  globalCss,
  inputRecipe,
  keyframes,
  menuSlotRecipe,
  nativeSelectSlotRecipe,
  skeletonRecipe,
  spinnerRecipe,
  switchSlotRecipe,
  textareaRecipe,
  tokens,
} from "@chakra-ui/react/theme";
import { ramps } from "./ramps.ts";
import { recipes, slotRecipes } from "./recipes.ts";
import { semanticColors, semanticShadows } from "./semantic.ts";

/** Fonts for characters that Geist lacks: Han, kana and hangul of macOS, Windows and Linux, then emoji. */
const FALLBACK = [
  '"PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo"',
  '"Microsoft YaHei UI", "Microsoft YaHei", "Yu Gothic UI", "Malgun Gothic"',
  '"Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei"',
  '"Apple Color Emoji", "Segoe UI Emoji", "Noto Color Emoji"',
].join(", ");

function size(fontSize: string, lineHeight: string) {
  return { value: { fontSize, lineHeight } };
}

/** Chakra's own parts, listed by name: recipes that are not listed stay out of the bundle. */
const chakra: SystemConfig = {
  preflight: true,
  cssVarsPrefix: "fw",
  cssVarsRoot: ":where(html)",
  globalCss,
  theme: {
    breakpoints: chakraBreakpoints,
    keyframes,
    tokens: { ...tokens, colors: { ...ramps, white: { value: "#ffffff" }, black: { value: "#000000" } } },
    semanticTokens: { shadows: semanticShadows, colors: semanticColors },
    recipes: {
      button: buttonRecipe,
      input: inputRecipe,
      textarea: textareaRecipe,
      skeleton: skeletonRecipe,
      spinner: spinnerRecipe,
    },
    slotRecipes: {
      dialog: dialogSlotRecipe,
      drawer: drawerSlotRecipe,
      field: fieldSlotRecipe,
      menu: menuSlotRecipe,
      nativeSelect: nativeSelectSlotRecipe,
      switch: switchSlotRecipe,
    },
    layerStyles: { disabled: { value: { opacity: "0.5", cursor: "not-allowed" } } },
    animationStyles,
  },
};

const fairway: SystemConfig = {
  globalCss: {
    html: { colorPalette: "fairway", bg: "bg", color: "fg", scrollPaddingTop: "14" },
    body: { textStyle: "md", fontVariantNumeric: "tabular-nums" },
    "*::selection": { bg: "fairway.emphasized" },
  },
  theme: {
    // 600 px and less is a phone.
    breakpoints: { sm: "601px", md: "900px", lg: "1200px" },
    tokens: {
      fonts: {
        body: { value: `"Geist Variable", system-ui, ${FALLBACK}, sans-serif` },
        heading: { value: `"Geist Variable", system-ui, ${FALLBACK}, sans-serif` },
        mono: { value: `"Geist Mono Variable", ui-monospace, Menlo, Consolas, ${FALLBACK}, monospace` },
      },
      fontWeights: { normal: { value: 450 }, medium: { value: 550 }, semibold: { value: 650 }, bold: { value: 650 } },
      radii: { xs: { value: "4px" }, sm: { value: "6px" }, md: { value: "10px" } },
    },
    semanticTokens: {
      radii: { l1: { value: "{radii.xs}" }, l2: { value: "{radii.sm}" }, l3: { value: "{radii.md}" } },
    },
    textStyles: {
      xs: size("12px", "16px"),
      sm: size("13px", "18px"),
      md: size("14px", "20px"),
      lg: size("16px", "24px"),
      xl: size("20px", "28px"),
      "2xl": size("28px", "36px"),
    },
    recipes: recipes as unknown as NonNullable<NonNullable<SystemConfig["theme"]>["recipes"]>,
    slotRecipes: slotRecipes as unknown as NonNullable<NonNullable<SystemConfig["theme"]>["slotRecipes"]>,
  },
};

export const system = createSystem(defaultBaseConfig, chakra, fairway);
