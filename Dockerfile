# Sluice in a container, for a CPU:
#   docker build -t sluice . && docker run --rm -v "$PWD:/work" sluice run velo.yaml -n 1000
# The first stage builds the Debian package, the second installs it.
FROM debian:12 AS build
RUN apt-get update && apt-get install --yes --no-install-recommends dpkg-dev file \
    gcc cmake ninja-build pkg-config libc6-dev libyaml-dev libxxhash-dev zlib1g-dev liblzma-dev liblz4-dev \
    libzstd-dev libhdf5-dev libzmq3-dev libmicrohttpd-dev libdw-dev help2man
COPY . /source
RUN cmake -S /source -B /build -G Ninja -D SLUICE_TESTS=OFF && cmake --build /build && cd /build && cpack

FROM debian:12-slim
COPY --from=build /build/sluice_*.deb /tmp/
RUN apt-get update && apt-get install --yes --no-install-recommends /tmp/sluice_*.deb libzmq5 libmicrohttpd12 && \
    rm -rf /tmp/sluice_*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["sluice"]
