# Builds web/ into web/dist: cmake -DNPM=... -DWEB=... -P BuildWebPage.cmake
# What goes wrong here (no registry to install from, an old Node) costs the page and nothing else: it is told, and the build goes on.
set(installed "${WEB}/node_modules/.package-lock.json")  # npm writes it last
if(NOT EXISTS "${installed}" OR "${WEB}/package-lock.json" IS_NEWER_THAN "${installed}")
  execute_process(COMMAND "${NPM}" ci --silent --no-audit --no-fund --prefer-offline WORKING_DIRECTORY "${WEB}" RESULT_VARIABLE result)
  if(result EQUAL 0)
    file(TOUCH "${installed}")
  endif()
endif()
if(EXISTS "${installed}")
  execute_process(COMMAND "${NPM}" run --silent build WORKING_DIRECTORY "${WEB}" RESULT_VARIABLE result)
endif()
if(NOT result EQUAL 0)
  message(WARNING "the web page could not be built: `ridge serve` and `ridge report` will say so. Try: npm ci --prefix web && npm run build --prefix web")
endif()
