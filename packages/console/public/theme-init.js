// Runs before the first paint; an external file because the content security policy forbids inline scripts.
(function () {
  var mode = null;
  try {
    mode = localStorage.getItem("theme-mode");
  } catch {
    mode = null;
  }
  if (mode !== "dark" && mode !== "light") {
    mode = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.classList.add(mode);
  document.documentElement.style.colorScheme = mode;
})();
