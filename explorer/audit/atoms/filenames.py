"""What names of files end with, and the names that need no ending."""

from __future__ import annotations

from explorer.audit.atoms.lists import word_set

EXTENSIONS = word_set(
    """
    py pyi ts tsx js jsx mjs cjs json jsonl yaml yml toml md mdx rst txt csv tsv sql sh bash
    zsh ps1 bat cmd rb go rs java kt kts swift scala clj ex exs erl hs ml mli c h cc cpp cxx
    hpp hh cs fs vb php pl lua r jl dart vue svelte html htm css scss sass less xml proto
    graphql gql tf tfvars hcl ini cfg conf env lock log db sqlite sqlite3 parquet ipynb gradle
    properties props csproj sln vcxproj mk cmake patch diff zip tar gz tgz bz2 xz zst whl jar
    png jpg jpeg gif svg webp ico pdf wasm so dll exe dmp plist service pem crt key bak po pot
    mo tex bib odt docx xlsx pptx ttf woff woff2 mp3 mp4 wav ogg glb fbx uasset hex bin elf
    img iso deb rpm apk aab ipa dat prof out map snap tmpl j2 jinja mako erb haml slim nix el
    vim zig nim cr v sv vhd s asm ld dts dtsi ui qml qrc qss storyboard xib strings arb
    editorconfig gitignore dockerignore gd tscn tres gdshader godot unity prefab asset gleam
    tfstate rmd qmd rds mm pbxproj xcconfig entitlements xcscheme cabal razor cshtml fsproj resx
    bicep rego rkt cljs edn adoc cls sty bst bbl aux tif tiff geojson avro orc feather h5 hdf5
    npz npy pkl pt onnx safetensors ckpt phtml twig tpl phar timer rules cnf gemspec rake astro
    mts cts jsonc json5 ndjson iss nsi fish awk bats f90 pas tmx blend psd drawio puml mmd ics
    eml har pcap ino kdl neon vbs reg url sublime tcl avsc typ gltf vtt srt epub
    """
)
FILE_NAMES = word_set(
    """
    makefile dockerfile rakefile gemfile procfile jenkinsfile vagrantfile codeowners justfile
    podfile brewfile cartfile fastfile guardfile containerfile caddyfile tiltfile
    cmakelists.txt .env .gitignore .dockerignore .editorconfig .npmrc .bashrc .zshrc .profile
    """
)
